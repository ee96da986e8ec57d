/** The card in a status is judged as seldom as one that is served: a thousand passes before an agent answers cost one verification. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createKeptSignatures } from '../../../runtime/agent-card/kept-signatures.ts';
import { later, now, read, valid } from './card-fixtures.ts';

const kept = { card: { name: 'weather' }, cardHash: 'h' };
const rules = { bundle: { hash: 'b', anchors: [], warnings: [] }, trustDomain: 'cluster.local' };

function counted() {
  const judged: string[] = [];
  const signatures = createKeptSignatures((body) => {
    judged.push(Buffer.from(body).toString());
    return read(valid);
  });
  return { judged, signatures };
}

test('it is judged once, and again when the card, the bundle or a rule has changed or its certificate has ended', () => {
  const { judged, signatures } = counted();
  const ask = (of = kept, question = { rules, now }) => {
    const before = judged.length;
    assert.equal(signatures.of('uid', of, question), valid);
    return judged.length - before;
  };
  assert.equal(ask(), 1);
  assert.deepEqual(judged, ['{"name":"weather"}']);
  for (let pass = 0; pass < 1_000; pass += 1) assert.equal(ask(), 0);
  assert.equal(ask({ ...kept, cardHash: 'i' }), 1);
  assert.equal(ask(kept, { rules: { ...rules, bundle: { ...rules.bundle, hash: 'c' } }, now }), 1);
  assert.equal(ask(kept, { rules: { ...rules, trustDomain: 'other.test' }, now }), 1);
  assert.equal(ask(), 1);
  assert.equal(ask(kept, { rules, now: new Date(valid.expires.getTime() + 1) }), 1);
});

test('without a card there is nothing to judge', () => {
  const { judged, signatures } = counted();
  assert.equal(signatures.of('uid', {}, { rules, now }), undefined);
  assert.equal(signatures.of('uid', { cardHash: 'h' }, { rules, now: later(1) }), undefined);
  assert.deepEqual(judged, []);
});
