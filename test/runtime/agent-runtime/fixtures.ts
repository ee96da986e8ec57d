/** Builders for the enrolment controller's tests: the reports' `D0` and `R0`, and an observation of them. */

import type { AgentRuntime, AgentRuntimeStatus } from '../../../runtime/api/agent-runtime.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import type { ConfigMap } from '../../../runtime/api/kubernetes.ts';
import { annotations, apiVersion, configMaps, labels, managedBy } from '../../../runtime/api/names.ts';
import { configHash } from '../../../runtime/config/config-hash.ts';
import { authBridgeData } from '../../../runtime/config/authbridge-data.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import { mergeLayers } from '../../../runtime/config/merge.ts';
import type { KubeObject, Plan } from '../../../runtime/engine/types.ts';
import { createConfigurations } from '../../../runtime/agent-runtime/configuration.ts';
import type { Configuration, Observed, PodFacts } from '../../../runtime/agent-runtime/observed.ts';
import { rowOf } from '../../../runtime/workload/kinds.ts';
import { noPods } from '../../../runtime/workload/pod-counts.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

export const now = new Date('2026-01-01T12:00:00Z');
export const noLayers: Layers = { config: [], gates: [], problems: [], warnings: [] };
export const hash = configHash(noLayers, 'agent');
export const otherHash = 'f'.repeat(64);

export interface WorkloadShape {
  readonly kind?: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob';
  readonly name?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly templateLabels?: Readonly<Record<string, string>>;
  readonly hash?: string;
  readonly serviceAccount?: string;
  readonly templateAnnotations?: Readonly<Record<string, string>>;
  readonly podSpec?: Readonly<Record<string, unknown>>;
  readonly replicas?: number;
  readonly rolling?: boolean;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** `D0`, or another kind of the same name. */
export function workload(shape: WorkloadShape = {}): Workload {
  const kind = shape.kind ?? 'Deployment';
  const group = kind === 'Job' || kind === 'CronJob' ? 'batch/v1' : 'apps/v1';
  const row = rowOf({ apiVersion: group, kind });
  if (row === undefined) throw new Error(kind);
  const template = {
    metadata: {
      labels: { app: 'weather-agent', ...shape.templateLabels },
      annotations: {
        ...shape.templateAnnotations,
        ...(shape.hash === undefined ? {} : { [annotations.configHash]: shape.hash }),
      },
    },
    spec: {
      containers: [{ name: 'agent' }],
      ...(shape.serviceAccount === undefined ? {} : { serviceAccountName: shape.serviceAccount }),
      ...shape.podSpec,
    },
  };
  const replicas = shape.replicas ?? 2;
  const object = {
    apiVersion: group,
    kind,
    metadata: {
      namespace: 'team1',
      name: shape.name ?? 'weather-agent',
      uid: shape.uid ?? 'uid-d0',
      resourceVersion: '1',
      generation: 1,
      labels: { app: 'weather-agent', ...shape.labels },
      ...(shape.annotations === undefined ? {} : { annotations: shape.annotations }),
    },
    spec:
      kind === 'CronJob'
        ? { schedule: '@daily', jobTemplate: { spec: { template } } }
        : { replicas, selector: { matchLabels: { app: 'weather-agent' } }, template, ...shape.spec },
    status: {
      observedGeneration: shape.rolling === true ? 0 : 1,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
      readyReplicas: replicas,
      ...shape.status,
    },
  };
  return workloadOf(row, object as KubeObject);
}

/** As our own apply leaves it. */
export function enrolledWorkload(shape: WorkloadShape = {}): Workload {
  return workload({
    hash,
    ...shape,
    labels: { [labels.type]: 'agent', [labels.managedBy]: managedBy, ...shape.labels },
    templateLabels: { [labels.type]: 'agent', ...shape.templateLabels },
  });
}

export interface RuntimeShape {
  readonly name?: string;
  readonly created?: string;
  readonly spec?: Partial<AgentRuntime['spec']>;
  readonly status?: AgentRuntimeStatus;
  readonly deleted?: boolean;
}

/** `R0`. */
export function runtime(shape: RuntimeShape = {}): AgentRuntime {
  const name = shape.name ?? 'weather';
  return {
    apiVersion,
    kind: 'AgentRuntime',
    metadata: {
      namespace: 'team1',
      name,
      uid: `uid-${name}`,
      generation: 1,
      creationTimestamp: shape.created ?? '2026-01-01T00:00:00Z',
      ...(shape.deleted === true ? { deletionTimestamp: '2026-01-01T01:00:00Z' } : {}),
    },
    spec: {
      type: 'agent',
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' },
      ...shape.spec,
    },
    ...(shape.status === undefined ? {} : { status: shape.status }),
  };
}

/** `R0` where no pod is ever injected. */
export function inKubeSystem(shape: RuntimeShape = {}): AgentRuntime {
  const made = runtime(shape);
  return { ...made, metadata: { ...made.metadata, namespace: 'kube-system' } };
}

export function configuration(layers: Layers = noLayers, of: AgentRuntime = runtime()): Configuration {
  return createConfigurations()(layers, of);
}

export function authBridge(layers: Layers = noLayers, isForeign = false): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: 'team1',
      name: configMaps.authBridge.name,
      uid: 'uid-cm',
      ...(isForeign ? {} : { labels: { [labels.managedBy]: managedBy } }),
    },
    data: authBridgeData(mergeLayers(layers)),
  };
}

export function pod(name: string, shape: Partial<PodFacts> = {}): PodFacts {
  return { name, isInjected: true, hash, hasOurDefaults: true, createdAt: '2026-01-01T00:00:00Z', ...shape };
}

/** A namespace in which everything is as it should be, and `R0` is not enrolled yet. */
export function observed(over: Partial<Observed> = {}): Observed {
  const of = over.runtime ?? runtime();
  const target = over.target ?? { found: workload() };
  return {
    runtime: of,
    target,
    rivals: [],
    configuration: configuration(noLayers, of),
    namespace: { labels: {}, isTerminating: false },
    needsEnabledNamespace: false,
    operatorNamespace: 'rossoctl-system',
    former: undefined,
    pods: [],
    counts: 'found' in target ? target.found.row.pods(target.found.object) : noPods,
    unseen: 0,
    snag: undefined,
    hasCsiDriver: true,
    hasServiceAccount: true,
    authBridge: authBridge(),
    hasNeighbours: false,
    place: { kind: 'none' },
    standing: { kind: 'calm' },
    ...over,
  };
}

/** What the API server would hold after the plan: the observation to be made next. */
export function after(before: Observed, plan: Plan<AgentRuntimeStatus>): Observed {
  const target = plan.apply?.find(
    ({ kind }) => 'found' in before.target && kind === before.target.found.row.watch.kind,
  );
  const made = plan.apply?.find(({ kind }) => kind === kinds.configMap);
  const given = plan.patch?.find((one) => 'found' in before.target && one.target.uid === before.target.found.uid);
  return {
    ...before,
    runtime: { ...before.runtime, ...(plan.status === undefined ? {} : { status: plan.status }) },
    former: plan.patch === undefined || plan.patch.length === 0 ? before.former : undefined,
    hasServiceAccount:
      before.hasServiceAccount || plan.apply?.some(({ kind }) => kind === kinds.serviceAccount) === true,
    authBridge: made === undefined ? before.authBridge : (made.body as unknown as Observed['authBridge']),
    target:
      'found' in before.target
        ? { found: merged(before.target.found, target?.body ?? given?.body ?? {}) }
        : before.target,
  };
}

function merged(found: Workload, body: object): Workload {
  return workloadOf(found.row, merge(found.object, body) as KubeObject);
}

function merge(a: unknown, b: unknown): unknown {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(b)) return b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const at = (from: object, key: string): unknown => (from as Record<string, unknown>)[key];
  return Object.fromEntries(
    [...keys]
      .filter((key) => !(key in b) || at(b, key) !== null)
      .map((key) => [key, key in b ? (key in a ? merge(at(a, key), at(b, key)) : at(b, key)) : at(a, key)]),
  );
}
