/** The verified label on a pod for which no card answers: taken away whoever set it, told only when it was not the operator. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifiedPods } from '../../../runtime/agent-card/bearers.ts';
import { groundTriggers, vouchingOf, withdrawal } from '../../../runtime/agent-card/unvouched.ts';
import { userAgent } from '../../../runtime/api/names.ts';
import type { Change, KubeObject, ManagedFields, OwnerReference, Watch } from '../../../runtime/engine/types.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { enrolledReplicaSets } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, verified, workload } from './card-fixtures.ts';

const wrote = (manager: string, label: string): ManagedFields => ({
  manager,
  operation: 'Update',
  fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${label}`]: {} } } },
});
const podOf = (managedFields?: readonly ManagedFields[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'team1',
    name: 'a',
    uid: 'uid-a',
    labels: { [verified]: 'true' },
    ...(managedFields && { managedFields }),
  },
});

const rows: readonly (readonly [
  who: string,
  record: readonly ManagedFields[] | undefined,
  events: readonly string[],
])[] = [
  ['the operator', [wrote('kubelet', 'app'), wrote(userAgent, verified)], []],
  ['the operator and somebody else', [wrote('kubectl', verified), wrote(userAgent, verified)], []],
  ['somebody else', [wrote('kubectl', verified)], ['UnvouchedLabelRemoved']],
  [
    'somebody else, the operator another label',
    [wrote('kubectl', verified), wrote(userAgent, 'app')],
    ['UnvouchedLabelRemoved'],
  ],
  ['nobody that is recorded', [{ manager: 'odd', fieldsV1: null }], ['UnvouchedLabelRemoved']],
  ['nobody, where there is no record', undefined, ['UnvouchedLabelRemoved']],
];
for (const [who, record, events] of rows) {
  test(`a label that ${who} has set goes when no card answers for the pod`, () => {
    const kept = verifiedPods.keep?.(podOf(record)) ?? assert.fail('the record is not kept');
    const plan = withdrawal(vouchingOf(kept, readerOf(new Map())));
    assert.deepEqual(
      plan.patch?.map(({ target, body }) => [target.uid, body]),
      [['uid-a', { metadata: { labels: { [verified]: null } } }]],
    );
    assert.deepEqual(
      (plan.notices ?? []).map(({ reason }) => reason),
      events,
    );
  });
}

test('of the record only the names of those who set the label are kept', () => {
  const kept = verifiedPods.keep?.(podOf([wrote('kubelet', 'app'), wrote('kubectl', verified)]));
  assert.deepEqual(kept?.metadata.managedFields, [{ manager: 'kubectl' }]);
  assert.deepEqual(kept?.metadata.labels, { [verified]: 'true' });
});

const { object } = workload();
const replicaSet: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'team1', name: 'rs', uid: 'uid-rs', ownerReferences: [controlledBy(object)] },
};
const made = podOf([wrote(userAgent, verified)]);
const owned: KubeObject = { ...made, metadata: { ...made.metadata, ownerReferences: [controlledBy(replicaSet)] } };
const standing = card();
const going: AgentCard = { ...standing, metadata: { ...standing.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' } };
const heir: AgentCard = { ...standing, metadata: { ...standing.metadata, name: 'heir', uid: 'uid-heir' } };

function controlledBy({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true };
}

const readerWith = (...cards: readonly AgentCard[]) =>
  readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [agentCards as Watch, cards],
      [verifiedPods, [owned]],
      [enrolledReplicaSets, [replicaSet]],
      ...workloadRows.map(({ watch, kind }): [Watch, readonly KubeObject[]] => [
        watch,
        kind === object.kind ? [object] : [],
      ]),
    ]),
  );

describe('a card that is being deleted, which something holds', () => {
  const vouching: readonly (readonly [what: string, cards: readonly AgentCard[], boolean])[] = [
    ['a card that stays', [standing], true],
    ['one that is being deleted', [going], false],
    ['one that is being deleted and one that stays', [going, heir], true],
  ];
  for (const [what, cards, expected] of vouching)
    test(`${what} vouches for its workload’s pod: ${expected}`, () => {
      assert.equal(vouchingOf(owned, readerWith(...cards)).isVouchedFor, expected);
    });

  const changes: readonly (readonly [what: string, Change<AgentCard>, pods: number])[] = [
    ['its deletion began', { old: standing, now: going }, 1],
    ['it is gone', { old: going }, 1],
    ['it is still being deleted', { old: going, now: { ...going, status: {} } }, 0],
    ['it stays', { old: standing, now: { ...standing, status: {} } }, 0],
    ['it came', { now: standing }, 0],
  ];
  for (const [what, change, pods] of changes)
    test(`pods are looked at when ${what}: ${pods}`, () => {
      const [ofCards] = groundTriggers();
      assert.equal(ofCards?.affects(change, readerWith(...(change.now ? [change.now] : []))).length, pods);
    });
});
