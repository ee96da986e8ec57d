/** What is read of a status, once, and that nothing which others write later is taken for what was said. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card/decide.ts';
import { createKept } from '../../../runtime/agent-card/kept.ts';
import type { AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import { cardHash } from '../../../runtime/signature/verify.ts';
import { card, condition, later, now, observed, targetRef } from './card-fixtures.ts';
import { silent } from './situations.ts';

const served = { name: 'Weather', url: 'http://weather.test/' };
const said: AgentCardStatus = {
  protocol: 'a2a',
  targetRef,
  card: served,
  cardHash: cardHash(served),
  agent: { name: 'Weather', url: 'http://weather.test/', transport: 'JSONRPC', path: '/.well-known/agent-card.json' },
  lastSyncTime: '2026-01-01T11:00:00Z',
};
const firstRead = (status: AgentCardStatus) => createKept().of(card({}, status), now);
const { card: _, cardHash: __, agent: ___, ...withoutDocument } = said;

test('a status that makes sense is read as it is', () => assert.deepEqual(firstRead(said), said));

const forgeries: readonly (readonly [what: string, forged: Partial<AgentCardStatus>, read: AgentCardStatus])[] = [
  ['another card', { card: { ...served, url: 'http://evil.test/' } }, withoutDocument],
  ['one more member in the card', { card: { ...served, more: { deep: [1] } } }, withoutDocument],
  ['another hash', { cardHash: 'f'.repeat(64) }, withoutDocument],
  ['no hash', { cardHash: undefined }, withoutDocument],
  ['no card that any agent could serve', { card: { name: '\uD800' } }, withoutDocument],
  ['another summary', { agent: { url: 'http://evil.test/', path: '/.well-known/agent-card.json' } }, said],
  ['an answer that is yet to come', { lastSyncTime: '2037-01-01T00:00:00Z' }, { ...said, lastSyncTime: undefined }],
  ['another target', { targetRef: { ...targetRef, name: 'other' } }, {}],
];
for (const [what, forged, read] of forgeries) {
  test(`read at a start: ${what}`, () => {
    assert.deepEqual(
      { lastSyncTime: undefined, ...firstRead({ ...said, ...forged }) },
      { lastSyncTime: undefined, ...read },
    );
  });
}

test('of a card that is not stored, what was said of it is all there is', () => {
  const status = { targetRef, cardHash: 'a'.repeat(64), agent: { name: 'Large' } };
  assert.deepEqual(firstRead(status), status);
});

test('a status is read once: later it is what this process says, until the target is another or the card is gone', () => {
  const kept = createKept();
  assert.deepEqual(kept.of(card({}, said), now), said);
  const forged = card({}, { ...said, protocol: 'evil', card: undefined });
  assert.deepEqual(kept.of(forged, now), said);
  const mine = { ...said, protocol: 'mcp' };
  kept.say(forged, mine);
  assert.deepEqual(kept.of(forged, now), mine);
  const elsewhere = { targetRef: { ...targetRef, name: 'other' } };
  assert.deepEqual(kept.of(card(elsewhere, said), now), {});
  assert.deepEqual(kept.of(card({}, said), now), said);
  kept.forget('uid-c');
  assert.equal(kept.of(forged, now).protocol, 'evil');
});

test('what others write while nobody has answered is put back, whole', () => {
  const talk = { ...silent, received: undefined, answeredAt: undefined, isAnswered: false };
  const off = { isRequired: false, isAudit: false, profiles: 'all' } as const;
  const before = { kept: said, talk, assessment: undefined, policy: off };
  const plan = decide(observed({ ...before, card: card({}, said) }), now);
  const forged: AgentCardStatus = {
    ...plan.status,
    protocol: 'evil',
    card: { name: 'Evil' },
    cardHash: cardHash({ name: 'Evil' }),
    agent: { name: 'Evil' },
    lastSyncTime: '2037-01-01T00:00:00Z',
  };
  const again = decide(observed({ ...before, kept: plan.status ?? {}, card: card({}, forged) }), later(1_000));
  assert.deepEqual(again.status, plan.status);
  assert.equal(condition(again, 'Synced'), 'False/Fetching');
});
