/** How long an agent that does not answer is waited for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bed, card, endpoint, failed, hangs, quick } from './contacts-bed.ts';

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

test('more patience waits longer for one that is in time', async () => {
  const { clock, contacts, keep, news } = bed((_, count) => quick(count === 1 ? card('{}') : failed('NotJSON')));
  keep('weather', { patienceMs: 60_000 });
  await clock.advance(50_000);
  keep('weather', { patienceMs: 120_000 });
  news();
  await clock.advance(69_000);
  assert.deepEqual([contacts.of('weather')?.isLost, news()], [false, []]);
  await clock.advance(1_005);
  assert.deepEqual([contacts.of('weather')?.isLost, news()], [true, ['weather']]);
});

const afterLoss: readonly (readonly [change: string, more: Parameters<ReturnType<typeof bed>['keep']>[1]])[] = [
  ['more patience', { periodMs: 3_600_000, patienceMs: 10_800_000 }],
  ['another address', { endpoints: [endpoint('weather-2')], patienceMs: 60_000 }],
  ['less patience', { periodMs: 5_000, patienceMs: 15_000 }],
];
for (const [change, more] of afterLoss) {
  test(`once lost, ${change} finds no card again: only an answer does`, async () => {
    let isUp = true;
    const { clock, contacts, keep, news } = bed(() => quick(isUp ? card('{}') : failed('NotJSON')));
    keep('weather', { patienceMs: 60_000 });
    await clock.advance(5);
    isUp = false;
    await clock.advance(60_000);
    keep('weather', more);
    assert.equal(contacts.of('weather')?.isLost, true);
    await clock.advance(10_000);
    keep('weather', { patienceMs: 60_000 });
    assert.equal(contacts.of('weather')?.isLost, true);
    isUp = true;
    news();
    await clock.advance(40_000);
    assert.deepEqual([contacts.of('weather')?.isLost, news()], [false, ['weather']]);
  });
}

test('more patience that comes with the moment of the loss comes too late', async () => {
  const { clock, contacts, keep } = bed((_, count) => quick(count === 1 ? card('{}') : failed('NotJSON')));
  keep('weather', { patienceMs: 60_000 });
  await clock.advance(5);
  // The timer has not rung yet: the process was busy.
  clock.stall(60_000);
  keep('weather', { patienceMs: 120_000 });
  assert.equal(contacts.of('weather')?.isLost, true);
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
