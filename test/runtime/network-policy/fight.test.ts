/** Who writes over the condition again and again keeps nobody busy, and the policy follows the verdict all the same. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../../../runtime/network-policy/decide.ts';
import { own } from '../../../runtime/network-policy/outcome.ts';
import { calmed } from '../../../runtime/workload/calmed.ts';
import { createPutBacks } from '../../../runtime/workload/put-backs.ts';
import { written } from './decide-rows.ts';
import { card, condition, now, observed, statusOf } from './fixtures.ts';

test('a fight over the condition has pauses, in which the policy is written all the same', () => {
  const putBacks = createPutBacks();
  const forged = condition('NetworkPolicyReady', 'True', { reason: 'Permissive' });
  const status = statusOf('False');
  const of = card({ status: { ...status, conditions: [...(status.conditions ?? []), forged] } });
  const pass = () => calmed(of, decide(observed({ card: of }), now), { own, putBacks, now });
  const plans = Array.from({ length: 30 }, pass);
  assert.equal(plans.filter((plan) => plan.status !== undefined).length, 10);
  const paused = pass();
  assert.deepEqual([paused.status, paused.notices, paused.afterMs], [undefined, undefined, 5_000]);
  assert.deepEqual(written(paused), ['weather-signature-policy restrictive']);
});

test('passes over a condition that is there are no fight', () => {
  const putBacks = createPutBacks();
  const first = decide(observed(), now).status;
  const of = card({ status: first ?? {} });
  for (let i = 0; i < 50; i += 1) {
    assert.notEqual(calmed(of, decide(observed({ card: of }), now), { own, putBacks, now }).status, undefined);
  }
});
