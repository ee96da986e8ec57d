/** Verdicts that are shared: who hears of them, and that nothing is left of them once nobody works. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import type { Reader } from '../../../runtime/engine/types.ts';
import { createVerdicts, judgedPart, type Verdict } from '../../../runtime/workload/verdicts.ts';

const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };
const card = (spec: Partial<AgentCard['spec']> = {}): AgentCard => ({
  apiVersion: 'agent.rossoctl.dev/v1alpha1',
  kind: 'AgentCard',
  metadata: { namespace: 'team1', name: 'weather', uid: 'u' },
  spec: { targetRef, ...spec },
});
const good: Verdict = { isVerified: true, reason: 'SignatureVerified', about: judgedPart(card()), expires: 'later' };

test('each change of a verdict wakes its card once; stopped, nothing is known and nobody is woken', () => {
  const verdicts = createVerdicts();
  const woken: string[] = [];
  verdicts.reach(card(), good);
  const stop = verdicts.source.start(({ namespace = '', name }) => woken.push(`${namespace}/${name}`), {} as Reader);
  verdicts.reach(card(), { ...good });
  assert.deepEqual(woken, []);
  for (const change of [{ isVerified: false }, { reason: 'Expired' }, { about: 'x' }, { expires: undefined }]) {
    verdicts.reach(card(), good);
    woken.length = 0;
    verdicts.reach(card(), { ...good, ...change });
    assert.deepEqual(woken, ['team1/weather'], JSON.stringify(change));
  }
  stop();
  assert.equal(verdicts.of(card()), undefined);
  verdicts.reach(card(), good);
  assert.deepEqual(woken, ['team1/weather']);
  verdicts.forget(card());
  assert.equal(verdicts.of(card()), undefined);
});

test('a verdict is about target and binding, not about how often the card is fetched', () => {
  assert.equal(judgedPart(card({ syncPeriod: '1h', identityBinding: {} })), judgedPart(card()));
  assert.notEqual(judgedPart(card({ identityBinding: { scope: 'workload' } })), judgedPart(card()));
  assert.notEqual(judgedPart(card({ targetRef: { ...targetRef, kind: 'StatefulSet' } })), judgedPart(card()));
});
