/** Who writes over a status again and again keeps nobody busy, and closes and opens nothing by it. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card/decide.ts';
import { own } from '../../../runtime/agent-card/foreign.ts';
import type { Observed } from '../../../runtime/agent-card/observed.ts';
import type { AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import { calmed } from '../../../runtime/workload/calmed.ts';
import { createPutBacks } from '../../../runtime/workload/put-backs.ts';
import { card, later, now, observed, patches, read } from './card-fixtures.ts';

const said: AgentCardStatus = decide(observed(), now).status ?? {};

const fights: readonly (readonly [what: string, written: AgentCardStatus])[] = [
  ['another verdict', { ...said, validSignature: false }],
  ['a member where nothing is said', { ...said, bindingStatus: { bound: true, reason: 'x', message: 'x' } }],
  ['something in the card', { ...said, card: { name: 'Evil' } }],
  ['a time that is yet to come', { ...said, lastSyncTime: '2037-01-01T00:00:00Z' }],
  [
    'conditions of the future',
    { ...said, conditions: said.conditions?.map((one) => ({ ...one, lastTransitionTime: '2037-01-01T00:00:00Z' })) },
  ],
];

for (const [what, written] of fights) {
  test(`a fight over ${what} has pauses, in which the label is set and taken away all the same`, () => {
    const putBacks = createPutBacks();
    const pass = (over: Partial<Observed> = {}, ms = 0) => {
      const of = observed({ card: card({}, written), kept: said, ...over });
      return calmed(of.card, decide(of, later(ms)), { own, putBacks, now: later(ms) });
    };
    const plans = Array.from({ length: 30 }, () => pass());
    assert.equal(plans.filter(({ status }) => status !== undefined).length, 10);
    const paused = pass({}, 1_000);
    assert.deepEqual([paused.status, paused.notices, paused.afterMs], [undefined, undefined, 4_000]);
    assert.deepEqual(patches(paused), ['+weather', '+a']);
    assert.notEqual(pass({}, 5_000).status, undefined);
    const refused = pass({ assessment: read({ isValid: false, reason: 'expired', detail: 'it has ended' }) }, 5_001);
    assert.notEqual(refused.status, undefined, 'another verdict is no putting back');
  });
}

test('a fight is one also while the agent answers again and again', () => {
  const putBacks = createPutBacks();
  let kept = said;
  const plans = Array.from({ length: 60 }, (_, second) => {
    const at = later(second * 1_000);
    const talk = { ...observed().talk, answeredAt: at };
    const of = observed({ card: card({}, { ...said, validSignature: false }), kept, talk });
    const plan = decide(of, at);
    kept = plan.status ?? kept;
    return calmed(of.card, plan, { own, putBacks, now: at });
  });
  const statuses = plans.filter(({ status }) => status !== undefined);
  assert.ok(statuses.length <= 21, `${statuses.length} in a minute`);
});

test('passes over what is there are no fight, nor is a condition of somebody else', () => {
  const putBacks = createPutBacks();
  const other = { type: 'Theirs', status: 'True', reason: 'x', message: 'x', lastTransitionTime: 'x' } as const;
  const of = observed({ card: card({}, { ...said, conditions: [...(said.conditions ?? []), other] }), kept: said });
  for (let i = 0; i < 50; i += 1) {
    assert.notEqual(calmed(of.card, decide(of, now), { own, putBacks, now }).status, undefined);
  }
});
