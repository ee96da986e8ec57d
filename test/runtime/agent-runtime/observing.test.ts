/** Look-ups of the enrolment controller: pods by owner, and what wakes it besides objects. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { isInjected, podCountsOf, podsOf, unseenPods } from '../../../runtime/workload/pods.ts';
import { noPods } from '../../../runtime/workload/pod-counts.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { podFacts } from '../../../runtime/agent-runtime/pods.ts';
import { createRollouts } from '../../../runtime/agent-runtime/rollouts.ts';
import { rolloutSource } from '../../../runtime/agent-runtime/sources.ts';
import { annotations, labels } from '../../../runtime/api/names.ts';
import type { KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { agentRuntimes, enrolledPods, enrolledReplicaSets } from '../../../runtime/workload/watches.ts';
import { deploymentRow, elsewhere, job, jobRow, owned, podOf, replicaSet } from './cluster.ts';
import { enrolledWorkload, runtime, workload } from './fixtures.ts';
import { readerOf } from './reader.ts';

test('pods are found through ReplicaSets and Jobs, and those that have ended or go are not counted', () => {
  const marked = { [annotations.injected]: 'envoy-proxy', [annotations.configHash]: 'h' };
  const live = podOf('b', owned('ReplicaSet', 'weather-agent-abc', 'rs'));
  const pods = [
    {
      ...live,
      metadata: { ...live.metadata, annotations: marked, labels: { [labels.type]: 'agent' } },
      spec: { initContainers: [{ name: 'envoy-proxy' }], containers: [{ name: 'agent' }] },
    } as KubeObject,
    podOf('a', owned('ReplicaSet', 'weather-agent-abc', 'rs')),
    podOf('ended', owned('ReplicaSet', 'weather-agent-abc', 'rs'), { status: { phase: 'Succeeded' } }),
    podOf('of-cron', owned('Job', 'cron-1', 'job', 'batch/v1')),
  ];
  const found = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [enrolledPods as unknown as Watch, pods],
      [enrolledReplicaSets, [replicaSet]],
      [jobRow, [job]],
    ]),
  );
  assert.deepEqual(
    podsOf(found, workload())
      .map(podFacts)
      .map(({ name, isInjected, hash }) => [name, isInjected, hash]),
    [
      ['a', false, undefined],
      ['b', true, 'h'],
    ],
  );
  assert.deepEqual(
    podsOf(found, workload({ kind: 'CronJob', uid: 'uid-cron' }))
      .map(podFacts)
      .map(({ name }) => name),
    ['of-cron'],
  );
});

test('pods that the watch does not see are those beyond it by the workload’s own status; going ones are seen, ended ones are none', () => {
  const inSet = owned('ReplicaSet', 'weather-agent-abc', 'rs');
  const going = podOf('going', inSet);
  const reader = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [
        enrolledPods as unknown as Watch,
        [
          podOf('a', inSet),
          { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
          podOf('ended', inSet, { status: { phase: 'Failed' } }),
        ],
      ],
      [enrolledReplicaSets, [replicaSet]],
      [jobRow, [{ ...job, spec: { template: {} }, status: { startTime: 't', active: 3 } } as KubeObject]],
    ]),
  );
  const counted = (existing: number) => unseenPods(reader, workload(), { ...noPods, existing });
  assert.deepEqual([counted(5), counted(2), counted(1)], [3, 0, 0]);
  assert.equal(podCountsOf(reader, workload({ replicas: 4 })).existing, 4);
  assert.equal(podCountsOf(reader, workload({ kind: 'CronJob', uid: 'uid-cron' })).existing, 3);
  assert.equal(podCountsOf(reader, workload({ kind: 'CronJob', uid: 'uid-other' })).existing, 0);
});

const marked = (marker: string | undefined, containers: readonly string[], labelled: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    labels: { ...labelled },
    annotations: marker === undefined ? {} : { [annotations.injected]: marker },
  },
  spec: { initContainers: containers.map((name) => ({ name })), containers: [{ name: 'agent' }] },
});
const pods: readonly (readonly [what: string, pod: Pod, isOurs: boolean])[] = [
  ['no marker', marked(undefined, ['envoy-proxy']), false],
  ['a marker and its containers', marked('proxy-init,envoy-proxy', ['proxy-init', 'envoy-proxy']), true],
  ['with foreign ones beside', marked('envoy-proxy', ['istio-init', 'envoy-proxy']), true],
  ['a bare marker', marked('proxy-init,envoy-proxy', []), false],
  ['an empty marker', marked('', []), false],
  ['a container that the marker does not name', marked('envoy-proxy', ['proxy-init', 'envoy-proxy']), false],
  ['a marker that names one the pod lacks', marked('proxy-init,envoy-proxy', ['envoy-proxy']), false],
  ['a marker that names a stranger', marked('agent', []), false],
  [
    'a pod that the injector is never asked about',
    marked('envoy-proxy', ['envoy-proxy'], { [labels.inject]: 'disabled' }),
    false,
  ],
];
for (const [what, pod, isOurs] of pods) {
  test(`injected or not: ${what}`, () => assert.equal(isInjected(pod), isOurs));
}

test('the rollouts under way are counted at the start', () => {
  const rollouts = createRollouts();
  const rolling = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [agentRuntimes as unknown as Watch, [runtime(), elsewhere]],
      [deploymentRow, [enrolledWorkload({ rolling: true }).object]],
    ]),
  );
  const end = rolloutSource(rollouts, () => 0).start(() => {}, rolling);
  assert.equal(rollouts.inProgress, 1);
  end();
  assert.equal(rollouts.inProgress, 0);
});
