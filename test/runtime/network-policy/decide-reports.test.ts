/** What is said about a card's network: annotation, events and the condition. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../runtime/api/names.ts';
import { decide } from '../../../runtime/network-policy/decide.ts';
import type { Observed } from '../../../runtime/network-policy/observed.ts';
import { networkPolicy, permissiveRules } from '../../../runtime/network-policy/policies.ts';
import { judgedPart } from '../../../runtime/workload/verdicts.ts';
import { name, onHost, unverified, verified } from './decide-rows.ts';
import { after, card, condition, foreignPolicy, now, observed, selector, surroundings, workload } from './fixtures.ts';

describe('annotation and events', () => {
  test('a policy says for which spec it is open, and that it is open for none', () => {
    const of = (which: typeof verified) => decide(observed({ card: which }), now).apply?.[0]?.body.metadata.annotations;
    assert.deepEqual(of(verified), { [annotations.verdictFor]: judgedPart(verified) });
    assert.deepEqual(of(unverified), { [annotations.verdictFor]: 'none' });
  });

  test('an edit of the sync period neither closes nor writes', () => {
    const before = observed({ card: verified });
    const open = after(before, decide(before, now));
    const edited = {
      ...open.card,
      metadata: { ...open.card.metadata, generation: 2 },
      spec: { ...open.card.spec, syncPeriod: '5m' },
    };
    const plan = decide({ ...open, card: edited }, now);
    assert.deepEqual(
      plan.apply?.[0]?.body,
      networkPolicy({
        card: edited,
        name,
        podSelector: selector,
        rules: permissiveRules(surroundings()),
        verdictFor: judgedPart(verified),
        uid: open.policy?.metadata.uid,
      }).body,
    );
  });

  for (const [from, over, events] of [
    [undefined, {}, []],
    [undefined, { card: verified }, ['Normal NetworkOpened']],
    ['Restrictive', { card: verified }, ['Normal NetworkOpened']],
    ['Permissive', { card: verified }, []],
    ['Permissive', { card: unverified }, ['Warning NetworkClosed']],
    ['Restrictive', { card: unverified }, []],
    ['Permissive', { policy: foreignPolicy(), own: [] }, ['Warning NetworkPolicyNameTaken']],
    ['NameTaken', { policy: foreignPolicy(), own: [] }, []],
    ['NameTaken', { card: unverified }, []],
    [undefined, { target: { missing: true } }, []],
    [undefined, { target: { found: workload('CronJob', {}) } }, ['Warning NetworkPolicyNoPodSelector']],
    ['Permissive', { target: { found: onHost } }, ['Warning NetworkPolicyHostNetwork']],
    ['HostNetwork', { target: { found: onHost } }, []],
  ] as const) {
    test(`OB-02: from ${from ?? 'nothing'}: ${events.join() || 'no event'}`, () => {
      const of = observed(over as Partial<Observed>);
      const previous = from === undefined ? [] : [condition('NetworkPolicyReady', 'True', { reason: from })];
      const status = { ...of.card.status, conditions: [...(of.card.status?.conditions ?? []), ...previous] };
      const plan = decide({ ...of, card: { ...of.card, status } }, now);
      assert.deepEqual(
        (plan.notices ?? []).map(({ type, reason }) => `${type} ${reason}`),
        events,
      );
    });
  }

  test('the condition of a card that no longer counts, or of audit mode, is taken away once', () => {
    const reported = card({ status: { conditions: [condition('NetworkPolicyReady', 'True')] } });
    for (const over of [{ counts: false }, { isAudit: true }]) {
      assert.deepEqual(decide(observed({ ...over, card: reported }), now).status, { conditions: [] });
      assert.equal(decide(observed({ ...over, card: verified }), now).status, undefined);
    }
  });

  test('the condition keeps the time of its last change', () => {
    const before = observed({
      card: card({ status: { conditions: [condition('NetworkPolicyReady', 'True', { reason: 'Permissive' })] } }),
    });
    assert.equal(decide(before, now).status?.conditions?.[0]?.lastTransitionTime, '2026-01-01T00:00:00Z');
  });
});
