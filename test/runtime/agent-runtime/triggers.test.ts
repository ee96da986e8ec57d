/** Which AgentRuntimes a change wakes, and that a change of nothing that is read wakes none. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { authBridgeConfigMaps } from '../../../runtime/agent-runtime/observe.ts';
import { triggers } from '../../../runtime/agent-runtime/triggers.ts';
import { configWatches } from '../../../runtime/config/read.ts';
import type { Change, KubeObject, ObjectKey, Watch } from '../../../runtime/engine/types.ts';
import {
  agentRuntimes,
  csiDrivers,
  enrolledPods,
  enrolledReplicaSets,
  namespaces,
  serviceAccounts,
} from '../../../runtime/workload/watches.ts';
import { deploymentRow, elsewhere, job, jobRow, owned, podOf, replicaSet, target } from './cluster.ts';
import { authBridge, enrolledWorkload, runtime, workload } from './fixtures.ts';
import { readerOf } from './reader.ts';

const config = configWatches('rossoctl-system');
const all = triggers(config, authBridgeConfigMaps);

const reader = readerOf(
  new Map<Watch, readonly KubeObject[]>([
    [
      agentRuntimes as unknown as Watch,
      [
        runtime(),
        runtime({ name: 'cron', ...target('CronJob', 'cron', 'batch/v1') }),
        runtime({ name: 'set', ...target('StatefulSet', 'set') }),
        elsewhere,
      ],
    ],
    [deploymentRow, [enrolledWorkload({ serviceAccount: 'sa' }).object]],
    [enrolledReplicaSets, [replicaSet]],
    [jobRow, [job]],
  ]),
);

function wakes(watch: unknown, change: Change): readonly string[] {
  const keys = all.filter((trigger) => trigger.watch === watch).flatMap((trigger) => trigger.affects(change, reader));
  return [...new Set(keys.map(({ name }: ObjectKey) => name))].sort();
}

const everybody = ['cron', 'elsewhere', 'set', 'weather'];
const team1 = ['cron', 'set', 'weather'];
const map = (data: Record<string, string>, metadata: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'team1', name: 'm', ...metadata },
    data,
  }) as KubeObject;
const namespace = (more: object = {}) =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1', ...more } }) as KubeObject;
const D0 = enrolledWorkload().object;
const scaledStatus = { ...D0, metadata: { ...D0.metadata, resourceVersion: '9' } };
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'team1', name: 'sa' } };
const viaReplicaSet = podOf('p', owned('ReplicaSet', 'weather-agent-abc', 'rs'));

const rows: readonly {
  readonly reason: string;
  readonly watch: unknown;
  readonly change: Change;
  readonly woken: readonly string[];
}[] = [
  {
    reason: 'new platform configuration',
    watch: config.platform,
    change: { old: map({ a: '1' }), now: map({ a: '2' }) },
    woken: everybody,
  },
  { reason: 'new gates', watch: config.gates, change: { now: map({ a: '2' }) }, woken: everybody },
  {
    reason: 'metadata of the platform configuration alone',
    watch: config.platform,
    change: { old: map({ a: '1' }), now: map({ a: '1' }, { labels: { x: 'y' } }) },
    woken: [],
  },
  {
    reason: 'namespace defaults that lost their label',
    watch: config.defaults,
    change: { old: map({ a: '1' }) },
    woken: team1,
  },
  { reason: 'our own ConfigMap appears', watch: authBridgeConfigMaps, change: { now: authBridge() }, woken: [] },
  { reason: 'our own ConfigMap is removed', watch: authBridgeConfigMaps, change: { old: authBridge() }, woken: team1 },
  {
    reason: 'a person puts a ConfigMap in its place',
    watch: authBridgeConfigMaps,
    change: { now: authBridge(undefined, true) },
    woken: team1,
  },
  { reason: 'RC-02 the target appears', watch: deploymentRow, change: { now: D0 }, woken: ['weather'] },
  { reason: 'RC-02 the target vanishes', watch: deploymentRow, change: { old: D0 }, woken: ['weather'] },
  {
    reason: 'a label of ours is stripped',
    watch: deploymentRow,
    change: { old: D0, now: workload().object },
    woken: ['weather'],
  },
  {
    reason: 'a rollout ends',
    watch: deploymentRow,
    change: { old: enrolledWorkload({ rolling: true }).object, now: D0 },
    woken: ['weather'],
  },
  {
    reason: 'RC-01 a change of status or of a foreign annotation',
    watch: deploymentRow,
    change: { old: D0, now: scaledStatus },
    woken: [],
  },
  {
    reason: 'the API server begins to refuse new pods',
    watch: deploymentRow,
    change: {
      old: enrolledWorkload({ status: { updatedReplicas: 0 } }).object,
      now: enrolledWorkload({
        status: { updatedReplicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'no' }] },
      }).object,
    },
    woken: ['weather'],
  },
  {
    reason: 'a pod that no watch sees goes',
    watch: deploymentRow,
    change: { old: enrolledWorkload({ status: { replicas: 3 } }).object, now: D0 },
    woken: ['weather'],
  },
  {
    reason: 'a pod of a CronJob’s Job that no watch sees goes',
    watch: jobRow,
    change: { old: { ...job, status: { active: 1 } } as KubeObject, now: job },
    woken: ['cron'],
  },
  {
    reason: 'a workload nobody targets',
    watch: deploymentRow,
    change: { now: workload({ name: 'other' }).object },
    woken: [],
  },
  { reason: 'a pod, through its ReplicaSet', watch: enrolledPods, change: { now: viaReplicaSet }, woken: ['weather'] },
  {
    reason: 'a pod, through the Job of a CronJob',
    watch: enrolledPods,
    change: { now: podOf('p', owned('Job', 'cron-1', 'job', 'batch/v1')) },
    woken: ['cron'],
  },
  {
    reason: 'a pod of a StatefulSet',
    watch: enrolledPods,
    change: { old: podOf('p', owned('StatefulSet', 'set', 'u')) },
    woken: ['set'],
  },
  {
    reason: 'a pod that becomes ready',
    watch: enrolledPods,
    change: {
      old: viaReplicaSet,
      now: {
        ...viaReplicaSet,
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      } as KubeObject,
    },
    woken: [],
  },
  {
    reason: 'a pod that ends',
    watch: enrolledPods,
    change: { old: viaReplicaSet, now: { ...viaReplicaSet, status: { phase: 'Failed' } } as KubeObject },
    woken: ['weather'],
  },
  {
    reason: 'a ReplicaSet seen after its pods',
    watch: enrolledReplicaSets,
    change: { now: replicaSet },
    woken: ['weather'],
  },
  { reason: 'a Job of a CronJob seen after its pods', watch: jobRow, change: { now: job }, woken: ['cron'] },
  {
    reason: 'the namespace enforces Pod Security',
    watch: namespaces,
    change: { old: namespace(), now: namespace({ labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } }) },
    woken: team1,
  },
  {
    reason: 'another label of the namespace',
    watch: namespaces,
    change: { old: namespace(), now: namespace({ labels: { a: 'b' } }) },
    woken: [],
  },
  {
    reason: 'the CSI driver appears',
    watch: csiDrivers,
    change: { now: { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'csi.spiffe.io' } } },
    woken: everybody,
  },
  {
    reason: 'the ServiceAccount of a template vanishes',
    watch: serviceAccounts,
    change: { old: account },
    woken: ['weather'],
  },
  { reason: 'a ServiceAccount appears', watch: serviceAccounts, change: { now: account }, woken: [] },
  {
    reason: 'RC-07 a rival goes',
    watch: agentRuntimes,
    change: { old: runtime({ name: 'rival' }) },
    woken: ['weather'],
  },
  {
    reason: 'RC-07 a rival moves away',
    watch: agentRuntimes,
    change: {
      old: runtime({ name: 'rival' }),
      now: {
        ...runtime({ name: 'rival', ...target('StatefulSet', 'set') }),
        metadata: { ...runtime({ name: 'rival' }).metadata, generation: 2 },
      } as KubeObject,
    },
    woken: ['set', 'weather'],
  },
  {
    reason: 'a status of a rival',
    watch: agentRuntimes,
    change: { old: runtime({ name: 'rival' }), now: runtime({ name: 'rival', status: { phase: 'Active' } }) },
    woken: [],
  },
];
for (const { reason, watch, change, woken } of rows) {
  test(`triggers: ${reason}`, () => assert.deepEqual(wakes(watch, change), woken));
}

test('RB-01 a change of a namespace that this install does not watch asks for nothing in it', () => {
  const namespaced: typeof reader = {
    ...reader,
    list: (watch, where) => {
      assert.notEqual(where?.namespace, 'team9', 'a namespace that is not watched was read');
      return reader.list(watch, where);
    },
  };
  const now = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team9', labels: { 'rossoctl-enabled': 'true' } },
  };
  const woken = all
    .filter((trigger) => trigger.watch === namespaces)
    .flatMap((trigger) => trigger.affects({ now }, namespaced));
  assert.deepEqual(woken, []);
});
