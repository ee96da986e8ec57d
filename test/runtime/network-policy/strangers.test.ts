/** Pods with the labels of a workload that is gone: which outlive it, and which are another’s that is there to stay. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../runtime/engine/types.ts';
import { controlledBy, going, goingOf, look, named, object, pod, type World } from './outliving-bed.ts';

function ownedBy(one: KubeObject, owner: KubeObject): KubeObject {
  return { ...one, metadata: { ...one.metadata, ownerReferences: [controlledBy(owner)] } };
}

const other = named('Deployment', 'other');
const set = named('StatefulSet', 'db');
const job = named('Job', 'run', 'batch/v1');
const cron = named('CronJob', 'nightly', 'batch/v1');
const rollout = named('Rollout', 'canary', 'argoproj.io/v1alpha1');
const replicaSet = named('ReplicaSet', 'rs');
const circle = ownedBy(replicaSet, replicaSet);

/** Beside a pod of the workload one that bears the same labels, of this owner: whose it is taken to be. */
const strangers: readonly (readonly [
  what: string,
  owner: KubeObject | undefined,
  World,
  names: string,
  strangers: readonly string[],
])[] = [
  ['nobody’s', undefined, {}, 'a,b', []],
  ['a StatefulSet’s', set, { others: [set] }, 'a', ['StatefulSet db']],
  ['a StatefulSet’s that is going', set, { others: [goingOf(set)] }, 'a,b', []],
  ['a StatefulSet’s that is gone', set, {}, 'a,b', []],
  ['a former StatefulSet’s', { ...set, metadata: { ...set.metadata, uid: 'x' } }, { others: [set] }, 'a,b', []],
  [
    'a Deployment’s, by its ReplicaSet',
    replicaSet,
    { replicaSets: [ownedBy(replicaSet, other)], others: [other] },
    'a',
    ['Deployment other'],
  ],
  ['a ReplicaSet’s that is gone', replicaSet, { others: [other] }, 'a,b', []],
  [
    'a ReplicaSet’s that is going',
    replicaSet,
    { replicaSets: [goingOf(ownedBy(replicaSet, other))], others: [other] },
    'a,b',
    [],
  ],
  ['a ReplicaSet’s that was left behind', replicaSet, { replicaSets: [replicaSet] }, 'a,b', []],
  [
    'the workload’s own, whose ReplicaSet is still there',
    replicaSet,
    { replicaSets: [ownedBy(replicaSet, object)] },
    'a,b',
    [],
  ],
  [
    'the workload’s own, which is going and in the cache still is not',
    replicaSet,
    { replicaSets: [ownedBy(replicaSet, object)], cached: object, there: going },
    'a,b',
    [],
  ],
  [
    'a namesake’s that came after it',
    replicaSet,
    { replicaSets: [ownedBy(replicaSet, object)], cached: object, there: object, owner: 'former' },
    'a',
    [],
  ],
  ['a Job’s of a CronJob', job, { others: [ownedBy(job, cron), cron] }, 'a', ['CronJob nightly']],
  ['a Job’s whose CronJob is gone', job, { others: [ownedBy(job, cron)] }, 'a,b', []],
  ['of a kind that no card can have', rollout, {}, 'a', ['Rollout canary']],
  [
    'of such a kind by a ReplicaSet',
    replicaSet,
    { replicaSets: [ownedBy(replicaSet, rollout)] },
    'a',
    ['Rollout canary'],
  ],
  ['of a ReplicaSet that says it owns itself', circle, { replicaSets: [circle] }, 'a,b', []],
];

describe('a pod with the labels of the workload’s', () => {
  for (const [what, owner, world, names, told] of strangers) {
    test(`${what}: ${names}`, async () => {
      const b = pod('b', owner === undefined ? {} : { ownerReferences: [controlledBy(owner)] });
      const seen = await look({ ...world, pods: [pod('a'), b] });
      assert.deepEqual([seen.names, seen.strangers], [[names], told]);
    });
  }

  test('of another workload alone gets no policy', async () => {
    const b = pod('b', { ownerReferences: [controlledBy(set)] });
    assert.deepEqual((await look({ others: [set], pods: [b] })).outlived, []);
  });
});
