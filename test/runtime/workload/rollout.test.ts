/** Rollout states, case by case as `kubectl rollout status` judges them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkloadKind } from '../../../runtime/workload/kinds.ts';
import { workload } from './workloads.ts';

type Case = readonly [
  what: string,
  expected: 'finished' | 'running',
  spec: object,
  status: object,
  generation?: number,
];

const three = { replicas: 3 };
const deployments: readonly Case[] = [
  ['all updated and available', 'finished', three, { replicas: 3, updatedReplicas: 3, availableReplicas: 3 }],
  ['not yet seen by its controller', 'running', three, { replicas: 3, updatedReplicas: 3, availableReplicas: 3 }, 2],
  ['some not updated', 'running', three, { replicas: 3, updatedReplicas: 2, availableReplicas: 3 }],
  ['old ones still there', 'running', three, { replicas: 4, updatedReplicas: 3, availableReplicas: 3 }],
  ['updated, not available', 'running', three, { replicas: 3, updatedReplicas: 3, availableReplicas: 2 }],
  ['scaled to zero', 'finished', { replicas: 0 }, {}],
  ['scaled to zero, old ones stopping', 'running', { replicas: 0 }, { replicas: 1 }],
  ['replicas not stated means one', 'running', {}, {}],
  ['paused: nothing restarts until it is resumed', 'finished', { replicas: 3, paused: true }, { replicas: 3 }],
  ['paused, not yet seen', 'running', { replicas: 3, paused: true }, { replicas: 3 }, 2],
];

const rolling = (partition?: number) => ({
  replicas: 3,
  updateStrategy: { type: 'RollingUpdate', ...(partition === undefined ? {} : { rollingUpdate: { partition } }) },
});
const same = { currentRevision: 'a', updateRevision: 'a' };
const statefulSets: readonly Case[] = [
  ['all new and ready', 'finished', rolling(), { readyReplicas: 3, updatedReplicas: 3, ...same }],
  [
    'revisions differ',
    'running',
    rolling(),
    { readyReplicas: 3, updatedReplicas: 2, currentRevision: 'a', updateRevision: 'b' },
  ],
  ['not ready', 'running', rolling(), { readyReplicas: 2, ...same }],
  ['not yet seen', 'running', rolling(), { readyReplicas: 3, updatedReplicas: 3, ...same }, 2],
  ['partition 0, the default', 'running', rolling(0), { readyReplicas: 3, updatedReplicas: 2 }],
  ['partition 0, done', 'finished', rolling(0), { readyReplicas: 3, updatedReplicas: 3 }],
  [
    'partition 2: one pod is meant to be new',
    'finished',
    rolling(2),
    { readyReplicas: 3, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' },
  ],
  ['partition 2, none new yet', 'running', rolling(2), { readyReplicas: 3, updatedReplicas: 0 }],
  ['partition beyond the replicas: none is meant to be new', 'finished', rolling(5), { readyReplicas: 3 }],
  [
    'OnDelete: a person replaces the pods',
    'finished',
    { replicas: 3, updateStrategy: { type: 'OnDelete' } },
    { readyReplicas: 3, updatedReplicas: 0 },
  ],
  ['scaled to zero', 'finished', { replicas: 0 }, { currentRevision: 'a', updateRevision: 'b' }],
];

const daemonSets: readonly Case[] = [
  [
    'all new and available',
    'finished',
    {},
    { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
  ],
  ['some not new', 'running', {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }],
  ['some not available', 'running', {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 }],
  ['not yet seen', 'running', {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }, 2],
  ['no node to run on', 'finished', {}, { desiredNumberScheduled: 0 }],
  [
    'OnDelete: a person replaces the pods',
    'finished',
    { updateStrategy: { type: 'OnDelete' } },
    { desiredNumberScheduled: 2 },
  ],
];

const others: readonly Case[] = [['never rolls', 'finished', {}, {}, 7]];

const tables: readonly (readonly [WorkloadKind, readonly Case[]])[] = [
  ['Deployment', deployments],
  ['StatefulSet', statefulSets],
  ['DaemonSet', daemonSets],
  ['Job', others],
  ['CronJob', others],
];

for (const [kind, cases] of tables) {
  for (const [what, expected, spec, status, generation = 1] of cases) {
    test(`${kind}: ${what} → ${expected}`, () => {
      const facts = { metadata: { generation }, spec: { ...spec }, status: { ...status } };
      const { rollout, row, object } = workload(kind, facts);
      assert.equal(rollout, expected);
      assert.equal(row.rollout(row.watch.keep?.(object) ?? object), expected, 'of what the cache keeps');
    });
  }
}
