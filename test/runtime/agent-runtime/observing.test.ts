/** Look-ups of the enrolment controller: pods by owner, and what wakes it besides objects. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { podsOf } from '../../../runtime/workload/pods.ts';
import { podFacts } from '../../../runtime/agent-runtime/pods.ts';
import { createRollouts } from '../../../runtime/agent-runtime/rollouts.ts';
import { fileSource, rolloutSource } from '../../../runtime/agent-runtime/sources.ts';
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
    { ...live, metadata: { ...live.metadata, annotations: marked, labels: { [labels.type]: 'agent' } } },
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

test('a file that changes wakes everybody; the rollouts under way are counted at the start', () => {
  const reader = readerOf(
    new Map<Watch, readonly KubeObject[]>([[agentRuntimes as unknown as Watch, [runtime(), elsewhere]]]),
  );
  let changed = () => {};
  const woken: string[] = [];
  const stop = fileSource('config', {
    current: 1,
    subscribe: (listener) => ((changed = () => listener(2)), () => {}),
  }).start(({ name }) => woken.push(name), reader);
  changed();
  stop();
  assert.deepEqual(woken.sort(), ['elsewhere', 'weather']);
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
