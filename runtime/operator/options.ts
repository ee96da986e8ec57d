/** One row per option of the operator: flag, environment, default, check. `--help` and the reference docs are made from this table. */

import { files, install } from '../api/names.ts';

export interface Option<T> {
  readonly flag: string;
  /** Environment variable read when the flag is absent. */
  readonly env?: string;
  readonly placeholder?: string;
  readonly default: T;
  readonly help: string;
  /** Text to value; throws a sentence saying what is allowed. */
  parse(text: string): T;
}

const text = (value: string) => value;

function port(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65535) throw new Error('a port from 0 to 65535 is expected');
  return number;
}

function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0) || !Number.isFinite(number)) throw new Error('a number above 0 is expected');
  return number;
}

function boolean(value: string): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new Error('true or false is expected');
}

function oneOf<const T extends string>(...allowed: readonly T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((item) => item === value);
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')} is expected`);
    return found;
  };
}

/** A comma list: spaces, empty entries and duplicates are dropped. */
export function nameList(value: string): readonly string[] {
  const names = [...new Set(value.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const bad = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is not a namespace name`);
  return names.sort();
}

const option = <T>(row: Option<T>): Option<T> => row;

export const options = {
  namespace: option({
    flag: 'namespace',
    env: 'POD_NAMESPACE',
    placeholder: 'NAME',
    default: install.namespace as string,
    help: "the operator's own namespace",
    parse: text,
  }),
  podName: option({
    flag: 'pod-name',
    env: 'POD_NAME',
    placeholder: 'NAME',
    default: '',
    help: 'identity on the Lease and in events; default: the host name',
    parse: text,
  }),
  namespaces: option<readonly string[]>({
    flag: 'namespaces',
    env: 'NAMESPACES2WATCH',
    placeholder: 'A,B,…',
    default: [],
    help: 'watch only these namespaces; empty: all',
    parse: nameList,
  }),
  kubeconfig: option({
    flag: 'kubeconfig',
    env: 'KUBECONFIG',
    placeholder: 'FILE',
    default: '',
    help: 'kubeconfig; default: the in-cluster account',
    parse: text,
  }),
  apiServerHost: option({
    flag: 'api-server-host',
    env: 'KUBERNETES_SERVICE_HOST',
    placeholder: 'HOST',
    default: 'kubernetes.default.svc',
    help: 'API server as a pod sees it',
    parse: text,
  }),
  apiServerPort: option({
    flag: 'api-server-port',
    env: 'KUBERNETES_SERVICE_PORT',
    placeholder: 'PORT',
    default: '443',
    help: 'its port',
    parse: text,
  }),
  context: option({
    flag: 'context',
    placeholder: 'NAME',
    default: '',
    help: 'context of the kubeconfig; default: its current one',
    parse: text,
  }),
  requireNamespaceLabel: option({
    flag: 'require-namespace-label',
    default: false,
    placeholder: 'BOOL',
    help: 'inject only in namespaces labelled rossoctl-enabled: "true"',
    parse: boolean,
  }),
  leaderElect: option({
    flag: 'leader-elect',
    default: true,
    placeholder: 'BOOL',
    help: 'run controllers only while holding the Lease',
    parse: boolean,
  }),
  webhookPort: option({
    flag: 'webhook-port',
    default: 9443,
    placeholder: 'PORT',
    help: 'HTTPS port of the admission webhooks',
    parse: port,
  }),
  webhookService: option({
    flag: 'webhook-service',
    default: install.webhookService as string,
    placeholder: 'NAME',
    help: 'Service in front of the webhooks',
    parse: text,
  }),
  webhookHost: option({
    flag: 'webhook-host',
    default: '',
    placeholder: 'HOST',
    help: 'name or address by which the API server reaches this process when webhooks are registered by URL, outside a cluster',
    parse: text,
  }),
  drainSeconds: option({
    flag: 'drain-seconds',
    default: 5,
    placeholder: 'N',
    help: 'after SIGTERM: how long requests are still taken while every proxy learns that this replica goes',
    parse: (value: string) => (value === '0' ? 0 : positive(value)),
  }),
  metricsPort: option({
    flag: 'metrics-port',
    default: 8080,
    placeholder: 'PORT',
    help: 'HTTP port of /metrics',
    parse: port,
  }),
  healthPort: option({
    flag: 'health-port',
    default: 8081,
    placeholder: 'PORT',
    help: 'HTTP port of /healthz and /readyz',
    parse: port,
  }),
  certificates: option({
    flag: 'certificates',
    default: 'self-managed' as const,
    placeholder: 'MODE',
    help: 'self-managed: the operator makes and rotates them; files: read from --certificate-dir (cert-manager)',
    parse: oneOf('self-managed', 'files'),
  } as Option<'self-managed' | 'files'>),
  certificateDir: option({
    flag: 'certificate-dir',
    default: '/etc/rossoctl/certificate',
    placeholder: 'DIR',
    help: 'directory with tls.crt, tls.key',
    parse: text,
  }),
  certificateSecret: option({
    flag: 'certificate-secret',
    default: install.certificateSecret as string,
    placeholder: 'NAME',
    help: 'Secret of the self-managed certificates',
    parse: text,
  }),
  configPath: option({
    flag: 'config-path',
    default: files.config as string,
    placeholder: 'FILE',
    help: 'mounted platform configuration',
    parse: text,
  }),
  gatesPath: option({
    flag: 'feature-gates-path',
    default: files.gates as string,
    placeholder: 'FILE',
    help: 'mounted feature gates',
    parse: text,
  }),
  logLevel: option({
    flag: 'log-level',
    default: 'info' as const,
    placeholder: 'LEVEL',
    help: 'debug, info, warn or error',
    parse: oneOf('debug', 'info', 'warn', 'error'),
  } as Option<'debug' | 'info' | 'warn' | 'error'>),
  qps: option({
    flag: 'kube-api-qps',
    default: 400,
    placeholder: 'N',
    help: 'requests a second to the API server',
    parse: positive,
  }),
  burst: option({
    flag: 'kube-api-burst',
    default: 800,
    placeholder: 'N',
    help: 'requests at once above that rate',
    parse: positive,
  }),
} as const;

export type OptionName = keyof typeof options;
