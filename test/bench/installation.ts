/** The platform as the constructs synthesize it, on an API server whose operator runs outside the cluster. */

import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import { install as names } from '../../runtime/api/names.ts';
import type { CardProps } from '../../constructs/verification.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { buildApp } from '../../stacks/app.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { applyObject } from './api-objects.ts';

/** The user name under which the operator's requests stand in the audit log. */
export const operatorAccount = `system:serviceaccount:${names.namespace}:${names.serviceAccount}`;

/** Where the agents of the scenarios with a single workload live. */
export const agentNamespace = 'team1';

/** The pod's manifests are not needed: the operator is started as a process. */
const leftOut: readonly string[] = ['Deployment', 'Service', 'PodDisruptionBudget'];
/** What refuses or waits for the operator. */
const gatekeepers: readonly string[] = [
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];

interface Registered extends KubeObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly service?: { readonly path: string } } }[];
}

/** Webhooks are called by URL instead of through a Service. */
function byUrl(object: KubeObject, webhookPort: number): KubeObject {
  if (!object.kind.endsWith('WebhookConfiguration')) return object;
  const { webhooks, ...rest } = object as Registered;
  const called = webhooks.map(({ clientConfig, ...webhook }) => ({
    ...webhook,
    clientConfig: { url: `https://127.0.0.1:${webhookPort}${clientConfig.service?.path ?? ''}` },
  }));
  return { ...rest, webhooks: called } as KubeObject;
}

function manifests(webhookPort: number, cards: CardProps): readonly KubeObject[] {
  const platform = { image: 'example.test/rossoctl:bench', namespaces: [{ name: agentNamespace }], ...cards };
  const app = buildApp({ environment: 'bench', platform });
  const objects = manifestsOf(app) as readonly KubeObject[];
  return objects.filter(({ kind }) => !leftOut.includes(kind)).map((object) => byUrl(object, webhookPort));
}

/** CRDs, RBAC, configuration and the SPIFFE CSI driver; resolves when AgentRuntimes are served. */
export async function installPlatform(client: Client, webhookPort: number, cards: CardProps): Promise<void> {
  const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'csi.spiffe.io' }, spec: {} };
  for (const object of [...manifests(webhookPort, cards), driver]) {
    if (!gatekeepers.includes(object.kind)) await applyObject(client, object);
  }
  while (!(await isServed(client))) await sleep(50);
}

/** The label policy and the webhook registrations. */
export async function installGatekeepers(client: Client, webhookPort: number): Promise<void> {
  for (const object of manifests(webhookPort, {})) {
    if (gatekeepers.includes(object.kind)) await applyObject(client, object);
  }
}

async function isServed(client: Client): Promise<boolean> {
  try {
    await client.list(kinds.agentRuntime);
    return true;
  } catch {
    return false;
  }
}
