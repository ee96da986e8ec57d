/** What an install leaves in a cluster besides its manifests, found by what it is and not by who made it. */

import { kinds } from '../api/kinds.ts';
import { install, labels, managedBy, policies, policyType, webhooks } from '../api/names.ts';
import type { Client } from '../engine/client.ts';
import { isNotFound } from '../engine/errors.ts';
import type { Kind, KubeObject, ObjectRef } from '../engine/types.ts';

/** All of it. */
export interface Traces {
  /** Webhook registrations and admission policies, which refuse changes or wait for the operator. */
  readonly gates: readonly ObjectRef[];
  readonly operator: ObjectRef | undefined;
  /** AgentRuntimes and AgentCards, whose finalizers want an operator. */
  readonly resources: readonly ObjectRef[];
  readonly networkPolicies: readonly ObjectRef[];
}

const policyGroup = 'admissionregistration.k8s.io/v1';
const policyKind: Kind = {
  apiVersion: policyGroup,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};
const bindingKind: Kind = {
  apiVersion: policyGroup,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  namespaced: false,
};

/** `namespace`: the operator’s own, which may be gone, as may be every kind of ours. */
export async function tracesIn(client: Client, namespace: string): Promise<Traces> {
  const [mutating, validating, bindings, admissionPolicies] = await Promise.all([
    all(client, kinds.mutatingWebhookConfiguration),
    all(client, kinds.validatingWebhookConfiguration),
    all(client, bindingKind),
    all(client, policyKind),
  ]);
  return {
    gates: [
      ...mutating.filter(isOurWebhook).map(ref(kinds.mutatingWebhookConfiguration)),
      ...validating.filter(isOurWebhook).map(ref(kinds.validatingWebhookConfiguration)),
      ...bindings.filter(({ metadata }) => isOurPolicy(metadata.name)).map(ref(bindingKind)),
      ...admissionPolicies.filter(({ metadata }) => isOurPolicy(metadata.name)).map(ref(policyKind)),
    ],
    operator: await operatorOf(client, namespace),
    resources: await resourcesIn(client),
    networkPolicies: await networkPoliciesIn(client),
  };
}

/** See `Traces.resources`. */
export async function resourcesIn(client: Client): Promise<readonly ObjectRef[]> {
  const [runtimes, cards] = await Promise.all([all(client, kinds.agentRuntime), all(client, kinds.agentCard)]);
  return [...runtimes.map(ref(kinds.agentRuntime)), ...cards.map(ref(kinds.agentCard))];
}

/** See `Traces.networkPolicies`. */
export async function networkPoliciesIn(client: Client): Promise<readonly ObjectRef[]> {
  const own = { labels: `${labels.managedBy}=${managedBy},${labels.policyType}=${policyType}` };
  return (await all(client, kinds.networkPolicy, own)).map(ref(kinds.networkPolicy));
}

/** By the names of the webhooks in it: an older install may have called the object otherwise. */
function isOurWebhook(object: KubeObject): boolean {
  const { webhooks: entries = [] } = object as { readonly webhooks?: readonly { readonly name: string }[] };
  const names = Object.values(webhooks).map(({ name }): string => name);
  return entries.some(({ name }) => names.includes(name));
}

function isOurPolicy(name = ''): boolean {
  return Object.values(policies).some((policy) => policy === name);
}

async function operatorOf(client: Client, namespace: string): Promise<ObjectRef | undefined> {
  try {
    return refOf(kinds.deployment, await client.get(kinds.deployment, { namespace, name: install.deployment }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A kind that the cluster does not have, or has no more, has no objects. */
async function all<T extends KubeObject>(client: Client, kind: Kind<T>, more: { readonly labels?: string } = {}) {
  try {
    return (await client.list(kind, more)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

const ref = (kind: Kind) => (object: KubeObject) => refOf(kind, object);

function refOf(kind: Kind, { metadata }: KubeObject): ObjectRef {
  const { namespace, name = '', uid } = metadata;
  return { kind, namespace, name, uid };
}

export async function removeAll(
  client: Client,
  refs: readonly ObjectRef[],
  report: (line: string) => void,
): Promise<void> {
  for (const ref of refs) {
    await remove(client, ref);
    report(`${textOf(ref)} deleted`);
  }
}

export async function remove(client: Client, ref: ObjectRef): Promise<void> {
  try {
    await client.remove(ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** `NetworkPolicy team1/weather-signature-policy`. */
export function textOf({ kind: { kind }, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
