/** How many pods a workload has and lacks by its own status, kind by kind, also of what the cache keeps. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels } from '../../../runtime/api/names.ts';
import type { KubeObject } from '../../../runtime/engine/types.ts';
import type { WorkloadKind } from '../../../runtime/workload/kinds.ts';
import { cronJobPods } from '../../../runtime/workload/pods.ts';
import { object, workload } from './workloads.ts';

/** `wanted/existing`, then ` lacking` and ` refused`. */
type Case = readonly [what: string, expected: string, spec: object, status: object, generation?: number];

const three = { replicas: 3 };
const refusal = (message: string) => ({ conditions: [{ type: 'ReplicaFailure', status: 'True', message }] });
const quota = refusal('exceeded quota');

const deployments: readonly Case[] = [
  ['all new', '3/3', three, { replicas: 3, updatedReplicas: 3, availableReplicas: 3 }],
  ['the old pods alone', '3/3 lacking', three, { replicas: 3, availableReplicas: 3 }],
  ['some new, not available yet', '3/4', three, { replicas: 4, updatedReplicas: 1, availableReplicas: 3 }],
  ['new ones refused', '3/3 lacking refused', three, { replicas: 3, availableReplicas: 3, ...quota }],
  ['some new, the next refused', '3/2 refused', three, { replicas: 2, updatedReplicas: 2, ...quota }],
  [
    'the refusal is over',
    '3/3 lacking',
    three,
    { replicas: 3, conditions: [{ type: 'ReplicaFailure', status: 'False', message: 'x' }] },
  ],
  ['another condition', '3/3 lacking', three, { replicas: 3, conditions: [{ type: 'Progressing', status: 'True' }] }],
  [
    'all there: what is left of a refusal is none',
    '3/3',
    three,
    { replicas: 3, updatedReplicas: 3, availableReplicas: 3, ...quota },
  ],
  [
    'all there, not available yet, and an earlier template is still refused',
    '3/4',
    three,
    { replicas: 4, updatedReplicas: 3, availableReplicas: 1, ...quota },
  ],
  [
    'a refusal of the template before',
    '3/3 lacking',
    three,
    { replicas: 3, updatedReplicas: 3, availableReplicas: 3, ...quota },
    2,
  ],
  ['paused: nothing is to come', '3/3', { ...three, paused: true }, { replicas: 3, ...quota }],
  ['scaled to zero', '0/0', { replicas: 0 }, {}],
  ['replicas not stated', '1/0 lacking', {}, {}],
];

const rolling = { updateStrategy: { type: 'RollingUpdate' } };
const onDelete = { replicas: 3, updateStrategy: { type: 'OnDelete' } };
const partition = (value: number) => ({
  replicas: 3,
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: value } },
});
const changing = { currentRevision: 'a', updateRevision: 'b' };
const statefulSets: readonly Case[] = [
  [
    'all new',
    '3/3',
    { ...three, ...rolling },
    { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
  ],
  [
    'the first pod is gone and does not come back',
    '3/2 lacking',
    { ...three, ...rolling },
    { replicas: 2, readyReplicas: 2, availableReplicas: 2, ...changing },
  ],
  ['its only pod is gone and does not come back', '1/0 lacking', { replicas: 1, ...rolling }, { ...changing }],
  [
    'one new, the next does not come',
    '3/2 lacking',
    { ...three, ...rolling },
    { replicas: 2, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2, ...changing },
  ],
  [
    'the next waits for the one before it',
    '3/1',
    { ...three, ...rolling },
    { replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0, ...changing },
  ],
  [
    'one new, not ready yet',
    '3/3',
    { ...three, ...rolling },
    { replicas: 3, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2, ...changing },
  ],
  [
    'not seen by its controller',
    '3/3 lacking',
    { ...three, ...rolling },
    { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
    2,
  ],
  [
    'OnDelete: nothing is to come',
    '3/3',
    onDelete,
    { replicas: 3, readyReplicas: 3, availableReplicas: 3, ...changing },
  ],
  [
    'OnDelete: a person deleted one',
    '3/2 lacking',
    onDelete,
    { replicas: 2, readyReplicas: 2, availableReplicas: 2, ...changing },
  ],
  [
    'a partition that lets none be new',
    '3/3',
    partition(3),
    { replicas: 3, readyReplicas: 3, availableReplicas: 3, ...changing },
  ],
  [
    'a partition that lets one be new',
    '3/3 lacking',
    partition(2),
    { replicas: 3, readyReplicas: 3, availableReplicas: 3, ...changing },
  ],
  ['scaled to zero', '0/0', { replicas: 0 }, { ...changing }],
];

const daemonSets: readonly Case[] = [
  [
    'all new',
    '2/2',
    {},
    { desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
  ],
  [
    'a pod is gone and does not come back',
    '2/1 lacking',
    {},
    { desiredNumberScheduled: 2, currentNumberScheduled: 1, numberAvailable: 1 },
  ],
  [
    'one new, the next does not come',
    '2/1 lacking',
    {},
    { desiredNumberScheduled: 2, currentNumberScheduled: 1, updatedNumberScheduled: 1 },
  ],
  [
    'one new, not available yet',
    '2/2',
    {},
    { desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1 },
  ],
  [
    'OnDelete: nothing is to come',
    '2/2',
    { updateStrategy: { type: 'OnDelete' } },
    { desiredNumberScheduled: 2, currentNumberScheduled: 2 },
  ],
  ['no node to run on', '0/0', {}, { desiredNumberScheduled: 0 }],
];

const startTime = '2026-01-01T00:00:00Z';
const ended = (type: string) => ({ conditions: [{ type, status: 'True' }] });
const jobs: readonly Case[] = [
  ['suspended', '0/0', { suspend: true }, {}],
  ['not started', '0/0', {}, {}],
  ['started, and no pod ever', '1/0 lacking', {}, { startTime }],
  ['running', '1/2', {}, { startTime, active: 2 }],
  ['between two tries', '1/0', {}, { startTime, failed: 1 }],
  ['complete', '0/0', {}, { startTime, succeeded: 1, ...ended('Complete') }],
  ['given up without a pod', '0/0', {}, { startTime, ...ended('Failed') }],
];

const tables: readonly (readonly [WorkloadKind, readonly Case[]])[] = [
  ['Deployment', deployments],
  ['StatefulSet', statefulSets],
  ['DaemonSet', daemonSets],
  ['Job', jobs],
  ['CronJob', [['its Jobs are asked', '0/0', {}, {}]]],
];

for (const [kind, cases] of tables) {
  for (const [what, expected, spec, status, generation = 1] of cases) {
    test(`pods of a ${kind}: ${what} → ${expected}`, () => {
      const { row, object } = workload(kind, {
        metadata: { generation },
        spec: { ...spec },
        status: { ...status },
      });
      for (const one of [object, row.watch.keep?.(object) ?? object]) {
        const { wanted, existing, lacking, refusal } = row.pods(one);
        const lacks = lacking === undefined ? '' : ' lacking';
        assert.equal(`${wanted}/${existing}${lacks}${refusal === undefined ? '' : ' refused'}`, expected);
        if (lacking !== undefined) assert.deepEqual(lacking, { kind, name: 'weather-agent' });
      }
    });
  }
}

const sentences: readonly (readonly [what: string, message: string, said: string | RegExp])[] = [
  [
    'a webhook’s stands as it is',
    'admission webhook "inject.rossoctl.io" denied the request: rename envoy-proxy',
    'admission webhook "inject.rossoctl.io" denied the request: rename envoy-proxy',
  ],
  [
    'a pod’s name is the workload’s, whichever pod it was',
    'pods "weather-agent-7d9f8c6b5-x7k2p" is forbidden: exceeded quota: q',
    'pods "weather-agent" is forbidden: exceeded quota: q',
  ],
  ['a name to be generated', 'pods "weather-agent-7d9f8c6b5-" is forbidden', 'pods "weather-agent" is forbidden'],
  [
    'another workload’s name stays',
    'Secret "weather-agent-credentials-of-others" is missing',
    'Secret "weather-agent-credentials-of-others" is missing',
  ],
  ['lines become one', 'a\n\tb\u0007 c', 'a b c'],
  ['nothing', '', 'no reason is given'],
  ['very much', 'x'.repeat(50_000), /^x{600}…$/],
];
for (const [what, message, said] of sentences) {
  test(`a refusal in one bounded line: ${what}`, () => {
    const { row, object } = workload('Deployment', { spec: three, status: { replicas: 3, ...refusal(message) } });
    const found = row.pods(row.watch.keep?.(object) ?? object).refusal ?? '';
    if (typeof said === 'string') assert.equal(found, said);
    else assert.match(found, said);
  });
}

test('of a workload’s conditions the cache keeps those that are read, while they hold', () => {
  const { row, object } = workload('Deployment', {
    status: {
      conditions: [
        { type: 'Available', status: 'True', message: 'm' },
        { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'm', lastUpdateTime: 't' },
        { type: 'Complete', status: 'False' },
        'nonsense',
      ],
    },
  });
  const kept = row.watch.keep?.(object) as (KubeObject & { readonly status?: object }) | undefined;
  assert.deepEqual(kept?.status, {
    observedGeneration: 1,
    conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'm' }],
  });
});

test('the pods of a CronJob are those of its Jobs; one from before the enrolment is to make none of ours', () => {
  const template = { labels: { [labels.type]: 'agent' } };
  const before = object('Job', { status: { startTime, active: 2 } });
  const stuckBefore = object('Job', { status: { startTime } });
  const running = object('Job', { template, status: { startTime, active: 1 } });
  const stuck = object('Job', { template, metadata: { name: 'weather-28' }, status: { startTime } });
  assert.deepEqual(cronJobPods([]), { wanted: 0, existing: 0, lacking: undefined, refusal: undefined });
  assert.deepEqual(cronJobPods([before, stuckBefore, running]), {
    wanted: 1,
    existing: 3,
    lacking: undefined,
    refusal: undefined,
  });
  assert.deepEqual(cronJobPods([running, stuck]).lacking, { kind: 'Job', name: 'weather-28' });
});
