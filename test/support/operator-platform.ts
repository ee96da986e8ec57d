/** Installs what `stacks/` synthesizes on an API server without nodes, and makes kubeconfigs with the operator account's own token. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { install } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { Transport } from '../../runtime/engine/transport.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { buildApp } from '../../stacks/app.ts';
import type { PlatformLayer } from '../../stacks/settings.ts';
import { type Manifest, manifestsOf } from '../../stacks/tree.ts';
import { eventually } from './engine-bed.ts';

export type PlatformProps = Omit<PlatformLayer['platform'], 'image'>;

type Manifested = KubeObject & Readonly<Record<string, unknown>>;

/** A ServiceAccount. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** What the API server calls an account. */
export const userOf = ({ namespace, name }: Account): string => `system:serviceaccount:${namespace}:${name}`;

/** The synthesized objects, but for the pods that cannot run here; the Service leads to `port` of this machine. */
export function platformObjects(props: PlatformProps, port: number): readonly Manifested[] {
  const app = buildApp({ environment: 'test', platform: { image: 'example.test/rossoctl:1', ...props } });
  return manifestsOf(app)
    .filter(({ kind }) => kind !== 'Deployment' && kind !== 'PodDisruptionBudget')
    .map((manifest) => here(manifest, port));
}

interface Hooks {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: Readonly<Record<string, unknown>> } }[];
}

/**
 * An API server resolves a Service of type ExternalName itself, so the registrations keep their reference to our Service, and what
 * reads them cannot tell: only the port is another.
 */
function here(manifest: Manifest, port: number): Manifested {
  const object = manifest as unknown as Manifested;
  if (object.kind === 'Service') return { ...object, spec: { type: 'ExternalName', externalName: '127.0.0.1' } };
  if (!object.kind.endsWith('WebhookConfiguration')) return object;
  const webhooks = (object as unknown as Hooks).webhooks.map((hook) => ({
    ...hook,
    clientConfig: { ...hook.clientConfig, service: { ...hook.clientConfig.service, port } },
  }));
  return { ...object, webhooks };
}

/** The kind of an object as its collection is called; enough for every kind that is synthesized. */
export function kindOf({ apiVersion, kind, metadata }: KubeObject): Kind {
  const lower = kind.toLowerCase();
  const plural = lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
  return { apiVersion, kind, plural, namespaced: metadata.namespace !== undefined };
}

/** Server-side apply, as `kubectl apply --server-side` does it, in the given order. */
export async function applyAll(client: Client, objects: readonly Manifested[]): Promise<void> {
  for (const body of objects) {
    const apply = () => client.apply({ kind: kindOf(body), body }, { fieldManager: 'installer' });
    // A CustomResourceDefinition, and a role's binding, take a moment; what fails for good fails within it.
    await eventually(apply, 5_000);
  }
}

/** The account that an install's operator runs as. */
export function accountIn(objects: readonly KubeObject[]): Account {
  const { namespace, name } = objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata ?? {};
  if (namespace === undefined || name === undefined) throw new Error('the install has no account');
  return { namespace, name };
}

/** A token of an account, default the operator's, as the kubelet would mount it. */
export async function tokenOf(
  transport: Transport,
  { namespace, name }: Account = {
    namespace: install.namespace,
    name: install.serviceAccount,
  },
): Promise<string> {
  const answer = (await transport.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 7200 } },
  })) as { readonly status: { readonly token: string } };
  return answer.status.token;
}

export interface TokenKubeconfig {
  readonly dir: string;
  readonly certificatesDir: string;
  /** The API server's, or that of a proxy in front of it. */
  readonly port: number;
  readonly token: string;
}

/** Writes a kubeconfig with a token; returns its path. */
export function writeTokenKubeconfig({ dir, certificatesDir, port, token }: TokenKubeconfig): string {
  const ca = readFileSync(path.join(certificatesDir, 'ca.crt')).toString('base64');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'operator' } }],
    clusters: [{ name: 'test', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': ca } }],
    users: [{ name: 'operator', user: { token } }],
  };
  const file = path.join(dir, `operator-${port}.kubeconfig`);
  writeFileSync(file, JSON.stringify(kubeconfig), { mode: 0o600 });
  return file;
}
