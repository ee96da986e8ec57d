/** Workloads of every kind as their owners write them, and the AgentRuntimes that name them. */

import { type AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { apiVersion, configMaps, install, labels } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import type { WorkloadKind } from '../../runtime/workload/kinds.ts';

/** Any object: what tests write is not checked by our types but by the API server. */
export type Written = KubeObject & Readonly<Record<string, unknown>>;

export interface WorkloadOptions {
  /** Default 0: no pod, so a rollout is over as soon as its controller has looked. */
  readonly replicas?: number;
  /** More of the pod's spec. */
  readonly pod?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly image?: string;
}

function template(name: string, { pod, labels: more = {}, image = 'example.test/agent:1' }: WorkloadOptions) {
  const containers = [{ name: 'agent', image, ports: [{ containerPort: 8080 }] }];
  return { metadata: { labels: { app: name, ...more } }, spec: { containers, ...pod } };
}

/** What stands in `spec` of each kind, around the pod template. */
const specs: Readonly<Record<WorkloadKind, (name: string, options: WorkloadOptions) => object>> = {
  Deployment: (name, options) => ({
    replicas: options.replicas ?? 0,
    selector: { matchLabels: { app: name } },
    template: template(name, options),
  }),
  StatefulSet: (name, options) => ({
    replicas: options.replicas ?? 0,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: template(name, options),
  }),
  DaemonSet: (name, options) => ({
    selector: { matchLabels: { app: name } },
    template: template(name, options),
  }),
  Job: (name, options) => ({ suspend: true, template: template(name, neverRestarted(options)) }),
  CronJob: (name, options) => ({
    schedule: '0 0 1 1 *',
    jobTemplate: { spec: { template: template(name, neverRestarted(options)) } },
  }),
};

function neverRestarted(options: WorkloadOptions): WorkloadOptions {
  return { ...options, pod: { restartPolicy: 'Never', ...options.pod } };
}

export const workloadKinds: Readonly<Record<WorkloadKind, Kind>> = {
  Deployment: kinds.deployment,
  StatefulSet: kinds.statefulSet,
  DaemonSet: kinds.daemonSet,
  Job: kinds.job,
  CronJob: kinds.cronJob,
};

/** A workload without any label of ours. */
export function workload(kind: WorkloadKind, namespace: string, name: string, options: WorkloadOptions = {}): Written {
  return {
    apiVersion: workloadKinds[kind].apiVersion,
    kind,
    metadata: { namespace, name, labels: { app: name } },
    spec: specs[kind](name, options),
  };
}

/** An AgentRuntime of the workload's own name. */
export function runtimeFor(
  { apiVersion: targetVersion, kind, metadata }: KubeObject,
  spec: Partial<AgentRuntime['spec']> = {},
): AgentRuntime & Written {
  const { namespace, name = '' } = metadata;
  return {
    apiVersion,
    kind: 'AgentRuntime',
    metadata: { namespace: namespace ?? '', name },
    spec: { type: 'agent', targetRef: { apiVersion: targetVersion, kind, name }, ...spec },
  } as AgentRuntime & Written;
}

/** The platform configuration with this text. */
export function platformConfig(text: string): Written {
  const { name, key } = configMaps.platform;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: install.namespace, name },
    data: { [key]: text },
  };
}

/** The feature gates with this text. */
export function featureGates(text: string): Written {
  const { name, key } = configMaps.gates;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: install.namespace, name },
    data: { [key]: text },
  };
}

/** The defaults of a namespace with this text. */
export function namespaceDefaults(namespace: string, text: string): Written {
  const metadata = { namespace, name: 'defaults', labels: { [labels.defaults]: 'true' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': text } };
}

/** Writes a ConfigMap as whole, whoever wrote it before. */
export async function putConfigMap(client: Client, body: Written): Promise<void> {
  await client.apply({ kind: kinds.configMap, body }, { fieldManager: 'installer' });
}

/** Makes a namespace, and waits for nothing. */
export async function createNamespace(
  client: Client,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: more } });
  return name;
}
