/** How long an agent that does not answer is waited for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bed, card, failed, hangs, quick } from './contacts-bed.ts';

test('without an answer for as long as patience lasts a card is lost, is told so once, and is found again by an answer', async () => {
  let isUp = true;
  const { clock, contacts, keep, news } = bed(() => (isUp ? quick(card('{}')) : hangs));
  keep('weather', { patienceMs: 90_000 });
  await clock.advance(5);
  assert.deepEqual(news(), ['weather']);
  isUp = false;
  await clock.advance(89_999);
  assert.deepEqual([contacts.of('weather')?.isLost, contacts.of('weather')?.failure?.reason], [false, 'Timeout']);
  assert.deepEqual(news(), ['weather']);
  await clock.advance(1);
  assert.equal(contacts.of('weather')?.isLost, true);
  assert.deepEqual(news(), ['weather']);
  await clock.advance(1_000_000);
  assert.deepEqual(news(), []);
  isUp = true;
  await clock.advance(200_000);
  assert.equal(contacts.of('weather')?.isLost, false);
  assert.deepEqual(news(), ['weather']);
});

test('one that never answered is lost from its first attempt on, whatever is in between', async () => {
  const { clock, contacts, keep, news } = bed(() => ({ afterMs: 1e9, fetched: failed('Timeout') }));
  keep('weather', { patienceMs: 60_000 });
  await clock.advance(59_999);
  assert.deepEqual([contacts.of('weather')?.isLost, news()], [false, []]);
  await clock.advance(1);
  assert.deepEqual([contacts.of('weather')?.isLost, news()], [true, ['weather']]);
});

test('more patience finds a lost card again, less loses one', async () => {
  const { clock, contacts, keep, news } = bed((_, count) => quick(count === 1 ? card('{}') : failed('NotJSON')));
  keep('weather', { patienceMs: 60_000 });
  await clock.advance(60_005);
  assert.equal(contacts.of('weather')?.isLost, true);
  news();
  keep('weather', { patienceMs: 120_000 });
  assert.equal(contacts.of('weather')?.isLost, false);
  await clock.advance(60_000);
  assert.deepEqual([contacts.of('weather')?.isLost, news()], [true, ['weather']]);
});

test('a quicker rhythm loses nobody at once who was in time by the old one: it is asked in the new one first', async () => {
  let isUp = true;
  const { clock, contacts, keep, asked } = bed(() => quick(isUp ? card('{}') : failed('NotJSON')));
  keep('weather', { periodMs: 300_000, patienceMs: 900_000 });
  await clock.advance(60_000);
  keep('weather', { periodMs: 5_000, patienceMs: 15_000 });
  assert.equal(contacts.of('weather')?.isLost, false);
  await clock.advance(6_000);
  assert.equal(asked.length, 2);
  isUp = false;
  keep('weather', { periodMs: 300_000, patienceMs: 900_000 });
  await clock.advance(890_000);
  keep('weather', { periodMs: 5_000, patienceMs: 15_000 });
  assert.equal(contacts.of('weather')?.isLost, false);
  await clock.advance(11_000);
  assert.equal(contacts.of('weather')?.isLost, true, 'and nobody is waited for any longer than before');
});
