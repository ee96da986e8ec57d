/** Where the API server is and how to prove who we are: from a kubeconfig file, or from a pod's service account. */

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { InvalidKubeconfig, sentenceOf } from './errors.ts';

/** Key and trust material of one TLS handshake. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

/** How to reach one API server. */
export interface Connection {
  /** `https://host:port`, with a path prefix when the server has one; no trailing slash. */
  readonly server: string;
  /** Namespace of the kubeconfig's context or of the pod. */
  readonly currentNamespace: string | undefined;
  /** The `Authorization` header, or undefined (client certificates). Read anew at most every 60 s. */
  authorization(): Promise<string | undefined>;
  /** Asked at each new connection, so that rotated certificates are picked up. */
  tls(): Promise<TlsMaterial>;
  /** Forgets what is cached: called after a 401. */
  refresh(): void;
}

export interface InCluster {
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** Default: where the kubelet mounts the service account. */
  readonly directory?: string;
}

const refreshMs = 60_000;
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The pod's own service account. The token is read again when its file changes, every 60 s, and after a 401. */
export function inClusterConnection({ host, port, directory = serviceAccountDirectory }: InCluster, clock: Clock) {
  const read = (name: string): string => readOrExplain(join(directory, name));
  const tokenPath = join(directory, 'token');
  let token: { readonly text: string; readonly mtimeMs: number; readonly at: number } | undefined;
  const connection: Connection = {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    currentNamespace: read('namespace').trim(),
    authorization: () => {
      const mtimeMs = statSync(tokenPath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const at = clock.monotonicMs();
      if (token === undefined || token.mtimeMs !== mtimeMs || at - token.at > refreshMs) {
        token = { text: read('token').trim(), mtimeMs, at };
      }
      return Promise.resolve(`Bearer ${token.text}`);
    },
    tls: () => Promise.resolve({ ca: read('ca.crt') }),
    refresh: () => (token = undefined),
  };
  return connection;
}

function readOrExplain(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidKubeconfig(
      `cannot read ${path} (${sentenceOf(cause)}): outside a pod pass --kubeconfig; inside one set automountServiceAccountToken: true`,
      { cause },
    );
  }
}

export interface KubeconfigFile {
  readonly path: string;
  /** Default: the file's current context. */
  readonly context?: string | undefined;
}

/** What this file uses of the Kubernetes client's `KubeConfig`. */
interface Config {
  loadFromFile(path: string): void;
  getContexts(): readonly { readonly name: string }[];
  getContextObject(name: string): { readonly namespace?: string } | null;
  getCurrentContext(): string;
  setCurrentContext(name: string): void;
  getCurrentCluster(): { readonly server: string } | null;
  applyToHTTPSOptions(options: HttpsOptions): Promise<void>;
}

interface HttpsOptions extends TlsMaterial {
  headers?: Readonly<Record<string, unknown>>;
  auth?: string | null;
}

/**
 * A kubeconfig file, with everything such files may hold: tokens, certificates, exec plugins, OIDC. The Kubernetes client is loaded here
 * and only here, when a kubeconfig is really used: in a cluster it never is, which saves 70 MB.
 */
export async function kubeconfigConnection(file: KubeconfigFile, clock: Clock): Promise<Connection> {
  const { KubeConfig } = await import('./kube-config.ts');
  const load = (): Config => loadConfig(new KubeConfig(), file);
  let config = load();
  let cached: { readonly header: string | undefined; readonly at: number } | undefined;
  const options = async (): Promise<HttpsOptions> => {
    const made: HttpsOptions = {};
    await config.applyToHTTPSOptions(made);
    return made;
  };
  return {
    server: (config.getCurrentCluster()?.server ?? '').replace(/\/+$/, ''),
    currentNamespace: config.getContextObject(config.getCurrentContext())?.namespace,
    authorization: async () => {
      const at = clock.monotonicMs();
      if (cached === undefined || at - cached.at > refreshMs) cached = { header: authorizationOf(await options()), at };
      return cached.header;
    },
    tls: async () => {
      const { ca, cert, key, servername, rejectUnauthorized } = await options();
      return { ca, cert, key, servername, rejectUnauthorized };
    },
    refresh: () => {
      cached = undefined;
      config = load();
    },
  };
}

function loadConfig(config: Config, { path, context }: KubeconfigFile): Config {
  try {
    config.loadFromFile(path);
  } catch (cause) {
    throw new InvalidKubeconfig(
      `kubeconfig ${path} cannot be used: ${sentenceOf(cause)}; pass another with --kubeconfig`,
      {
        cause,
      },
    );
  }
  const names = config.getContexts().map(({ name }) => name);
  const wanted = context ?? config.getCurrentContext();
  if (!names.includes(wanted)) {
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    throw new InvalidKubeconfig(
      `kubeconfig ${path} has no context ${wanted || '(none is current)'}: ${known}; pass --context`,
    );
  }
  config.setCurrentContext(wanted);
  if (!/^https?:\/\//.test(config.getCurrentCluster()?.server ?? '')) {
    throw new InvalidKubeconfig(`kubeconfig ${path}, context ${wanted}: its cluster is missing or has no server URL`);
  }
  return config;
}

function authorizationOf({ headers, auth }: HttpsOptions): string | undefined {
  const header = headers?.['Authorization'];
  if (typeof header === 'string') return header;
  return typeof auth === 'string' ? `Basic ${Buffer.from(auth).toString('base64')}` : undefined;
}
