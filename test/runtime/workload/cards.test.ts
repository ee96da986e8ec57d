/** Which card of a workload was generated, which of several counts, and how they are found by target. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { apiVersion, generatedCardName, labels, managedBy } from '../../../runtime/api/names.ts';
import { agentCards, isGenerated, winner } from '../../../runtime/workload/cards.ts';

interface Shape {
  readonly name?: string;
  readonly kind?: string;
  readonly target?: string;
  readonly ours?: boolean;
  readonly created?: string;
  readonly uid?: string;
  readonly deleted?: boolean;
}

const first = '2026-01-01T00:00:00Z';
const second = '2026-01-02T00:00:00Z';

function card(shape: Shape = {}): AgentCard {
  const { name = 'weather-deployment-card', kind = 'Deployment', target = 'weather', created = first } = shape;
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: {
      name,
      namespace: 'team1',
      uid: shape.uid ?? `uid-${name}`,
      creationTimestamp: created,
      ...(shape.ours === false ? {} : { labels: { [labels.managedBy]: managedBy } }),
      ...(shape.deleted === true ? { deletionTimestamp: second } : {}),
    },
    spec: { targetRef: { apiVersion: 'apps/v1', kind, name: target } },
  };
}

const long = 'w'.repeat(250);
const specless = { apiVersion, kind: 'AgentCard', metadata: { name: 'old', namespace: 'team1' } } as AgentCard;

const generated: readonly (readonly [reason: string, card: AgentCard, is: boolean])[] = [
  ['our label and the generated name of its Deployment', card(), true],
  ['the same for a StatefulSet', card({ kind: 'StatefulSet', name: 'weather-statefulset-card' }), true],
  ['a long workload name, which is cut', card({ target: long, name: generatedCardName('Deployment', long) }), true],
  ['the generated name without our label: adopted, not generated', card({ ours: false }), false],
  ['our label under a name of its own', card({ name: 'weather' }), false],
  ['the generated name of another workload', card({ target: 'news' }), false],
  ['the generated name of another kind', card({ kind: 'StatefulSet' }), false],
  ['no target at all, older than the schema', specless, false],
];

for (const [reason, object, is] of generated) {
  test(`isGenerated: ${reason}`, () => assert.equal(isGenerated(object), is));
}

const handMade = card({ name: 'mine', ours: false, created: second });
const winners: readonly (readonly [reason: string, cards: readonly AgentCard[], name: string | undefined])[] = [
  ['none', [], undefined],
  ['the only one', [card()], 'weather-deployment-card'],
  ['hand-made before generated, however young', [card(), handMade], 'mine'],
  ['the older of two hand-made ones', [handMade, card({ name: 'older', ours: false, created: first })], 'older'],
  [
    'the lesser uid of two of one second',
    [card({ name: 'a', ours: false, uid: '2' }), card({ name: 'b', ours: false, uid: '1' })],
    'b',
  ],
  [
    'one that is being deleted does not count',
    [card(), card({ name: 'mine', ours: false, deleted: true })],
    card().metadata.name,
  ],
  ['all of them being deleted', [card({ deleted: true })], undefined],
];

for (const [reason, cards, name] of winners) {
  test(`winner: ${reason}`, () => {
    assert.equal(winner(cards)?.metadata.name, name);
    assert.equal(winner(cards.toReversed())?.metadata.name, name);
  });
}

test('agentCards: found by the group, kind and name of the target, whatever the version', () => {
  const index = agentCards.indexes?.['target'];
  assert.deepEqual(index?.(card()), ['apps/Deployment/weather']);
  assert.deepEqual(index?.(specless), []);
});
