/** Whose turn it is, and when somebody else is asked at once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Endpoints } from '../../../runtime/agent-card/contact.ts';
import { type Experience, isOver, turnsOf } from '../../../runtime/agent-card/turns.ts';
import { endpoint } from './contacts-bed.ts';

/** `b2`: pod b of revision 2. */
const of = (name: string): Endpoint => ({ ...endpoint(name.slice(0, 1)), revision: name.slice(1) });
const all = (names: string): Endpoints => {
  const [first = '', ...others] = names.split(' ');
  return [of(first), ...others.map(of)];
};

const turnRows: readonly (readonly [what: string, pods: string, Partial<Experience>, turns: string])[] = [
  ['nobody has answered yet: the first three', 'a1 b1 c1 d1', {}, 'a b c'],
  ['the one that answered last comes first', 'a1 b1 c1 d1', { answering: of('c1') }, 'c a b'],
  ['after a vain attempt the next two of the others', 'a1 b1 c1 d1 e1', { passedOver: 2 }, 'a d e'],
  ['and round again', 'a1 b1 c1 d1 e1', { passedOver: 4 }, 'a b c'],
  ['one that answered and is gone is nobody', 'a1 b1', { answering: of('z1') }, 'a b'],
  ['a single pod', 'a1', { passedOver: 2 }, 'a'],
  ['two pods: the other once', 'a1 b1', { answering: of('b1'), passedOver: 3 }, 'b a'],
];
for (const [what, pods, experience, turns] of turnRows)
  test(`turns: ${what}`, () => {
    const order = turnsOf(all(pods), { answering: undefined, passedOver: 0, ...experience });
    assert.equal(order.map(({ pod }) => pod).join(' '), turns);
  });

const overRows: readonly (readonly [what: string, at: string, before: string, now: string, boolean])[] = [
  ['nothing changed', 'a1', 'a1 b1', 'a1 b1', false],
  ['another pod came, or is asked first now', 'b1', 'a1 b1', 'c1 a1 b1', false],
  ['another pod went', 'b1', 'a1 b1', 'b1', false],
  ['the one that is asked went', 'a1', 'a1 b1', 'b1', true],
  ['the first pod of a newer revision came', 'a1', 'a1 b1', 'c2 a1 b1', true],
  ['a second of the newer revision came, which had not answered', 'a1', 'c2 a1 b1', 'c2 d2 a1 b1', false],
  ['the newer revision went while an old pod is asked', 'a1', 'c2 a1', 'a1', false],
  ['the newer revision is asked and the old one went', 'c2', 'c2 a1', 'c2', false],
];
for (const [what, at, before, now, expected] of overRows)
  test(`somebody else is asked at once when ${what}: ${expected}`, () => {
    assert.equal(isOver(of(at), all(before), all(now)), expected);
  });

test('another address, port or host of the same pod is another place', () => {
  const place = of('a1');
  for (const change of [{ address: '10.0.0.9' }, { port: 1 }, { host: 'other' }, { pod: 'other' }]) {
    assert.equal(isOver(place, [place], [{ ...place, ...change }]), true);
  }
  assert.equal(isOver(place, [place], [{ ...place, via: 'otherwise found' }]), false);
});
