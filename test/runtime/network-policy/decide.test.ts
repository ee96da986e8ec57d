/** Observation → plan: which policy, what goes, what is said; that a second look changes nothing; and that the certificate ends it. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { decide } from '../../../runtime/network-policy/decide.ts';
import { name, removed, rows, said, written } from './decide-rows.ts';
import { after, card, now, observed, statusOf } from './fixtures.ts';

describe('decide', () => {
  for (const [what, over, applied, gone, finding] of rows) {
    test(what, () => {
      const plan = decide(observed(over), now);
      assert.deepEqual(written(plan), applied);
      assert.deepEqual(removed(plan), gone);
      assert.equal(said(plan), finding);
    });

    test(`${what}: a second look changes nothing`, () => {
      const before = observed(over);
      const settled = after(before, decide(before, now));
      const plan = decide(settled, now);
      assert.deepEqual(removed(plan), []);
      assert.deepEqual(plan.notices ?? [], []);
      for (const { body } of plan.apply ?? []) {
        const live = settled.own.find(({ metadata }) => metadata.name === body.metadata.name);
        assert.deepEqual(live?.spec, (body as NetworkPolicy).spec);
        assert.deepEqual(live?.metadata.annotations, body.metadata.annotations);
      }
      if (plan.status !== undefined && said(plan) !== '') {
        const own = settled.card.status?.conditions?.filter(({ type }) => type === 'NetworkPolicyReady');
        assert.deepEqual(plan.status, { conditions: own });
      }
    });
  }
});

describe('SG-13: the policy follows the certificate', () => {
  const until = (minutes: number) =>
    card({
      status: statusOf('True', { certificateExpires: new Date(now.getTime() + minutes * 60_000).toISOString() }),
    });
  const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

  test('SG-13: open until its end, closed from then on, although nobody touches the card', () => {
    const before = observed({ card: until(2) });
    const open = decide(before, at(1));
    assert.deepEqual(written(open), [`${name} permissive`]);
    assert.equal(open.afterMs, 60_000);
    const settled = after(before, open);
    for (const minutes of [2, 3, 60]) {
      const closed = decide(settled, at(minutes));
      assert.deepEqual(written(closed), [`${name} restrictive`]);
      assert.equal(closed.afterMs, undefined);
      assert.deepEqual(
        closed.notices?.map(({ reason }) => reason),
        ['NetworkClosed'],
      );
    }
  });

  test('SG-13: a fraction of a millisecond is waited for, not spun on', () => {
    const plan = decide(observed({ card: until(1) }), new Date(now.getTime() + 60_000 - 1));
    assert.equal(plan.afterMs, 1);
  });
});
