/** Every protected kind as the smallest valid object, and where it can carry the type label. */

import type { Json } from './kube.ts';

/** A value a person or the operator may write at one place; `undefined` removes it. */
export type Value = string | undefined;

export interface WorkloadKind {
  readonly kind: string;
  readonly collection: string;
  /** Each place's path to its label map. */
  readonly places: Readonly<Record<string, readonly string[]>>;
  make(name: string): Json;
}

export const typeLabel = 'rossoctl.io/type';
export const verifiedLabel = 'agent.rossoctl.dev/signature-verified';

const containers = [{ name: 'agent', image: 'example.test/agent:1' }];
const app = (name: string) => ({ app: name });
const template = (name: string) => ({ metadata: { labels: app(name) }, spec: { containers } });
const own = ['metadata', 'labels'];
const inTemplate = ['spec', 'template', 'metadata', 'labels'];

function selected(kind: string, plural: string, extra: Json = {}): WorkloadKind {
  return {
    kind,
    collection: `/apis/apps/v1/namespaces/NS/${plural}`,
    places: { metadata: own, 'pod template': inTemplate },
    make: (name) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, labels: app(name) },
      spec: { selector: { matchLabels: app(name) }, template: template(name), ...extra },
    }),
  };
}

export const workloadKinds: readonly WorkloadKind[] = [
  selected('Deployment', 'deployments', { replicas: 0 }),
  selected('StatefulSet', 'statefulsets', { replicas: 0, serviceName: 'none' }),
  selected('DaemonSet', 'daemonsets'),
  selected('ReplicaSet', 'replicasets', { replicas: 0 }),
  {
    kind: 'ReplicationController',
    collection: '/api/v1/namespaces/NS/replicationcontrollers',
    places: { metadata: own, 'pod template': inTemplate },
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name, labels: app(name) },
      spec: { replicas: 0, selector: app(name), template: template(name) },
    }),
  },
  {
    kind: 'Job',
    collection: '/apis/batch/v1/namespaces/NS/jobs',
    places: { metadata: own, 'pod template': inTemplate },
    // Suspended and never started: the only state in which a Job's template can be changed at all.
    make: (name) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, labels: app(name) },
      spec: { suspend: true, template: { spec: { containers, restartPolicy: 'Never' } } },
    }),
  },
  {
    kind: 'CronJob',
    collection: '/apis/batch/v1/namespaces/NS/cronjobs',
    places: {
      metadata: own,
      'job template': ['spec', 'jobTemplate', 'metadata', 'labels'],
      "job template's pod template": ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'labels'],
    },
    make: (name) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name, labels: app(name) },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } },
      },
    }),
  },
];

/** A copy of `object` with a label at `path`; `undefined` takes it away. */
export function labelled(object: Json, path: readonly string[], value: Value, label = typeLabel): Json {
  const copy = structuredClone(object) as Record<string, unknown>;
  let at = copy;
  for (const step of path) at = (at[step] ??= {}) as Record<string, unknown>;
  if (value === undefined) delete at[label];
  else at[label] = value;
  return copy;
}

/** A merge patch that sets or removes a label at `path` and touches nothing else. */
export function labelPatch(path: readonly string[], value: Value, label = typeLabel): Json {
  return path.reduceRight<Json>((below, step) => ({ [step]: below }), { [label]: value ?? null });
}
