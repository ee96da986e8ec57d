/** Asking agents in their rhythm: what wakes a card, what is kept of an answer, and what moving, forgetting and stopping mean. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseMs } from '../../../runtime/agent-card/rhythm.ts';
import { sha256Hex } from '../../../runtime/encoding/digest.ts';
import { bed, card, endpoint, failed, hangs, quick } from './contacts-bed.ts';

const text = (body: Uint8Array | undefined) => (body === undefined ? undefined : Buffer.from(body).toString());

test('a new card is asked for at once and then once a period; only news wakes it', async () => {
  const { clock, contacts, keep, asked, news } = bed(() => quick(card('{"a":1}', '"1"')));
  keep('weather');
  assert.deepEqual(contacts.of('weather'), {
    received: undefined,
    failure: undefined,
    answeredAt: undefined,
    isLost: false,
    via: 'Service weather, port a2a',
  });
  await clock.advance(5);
  assert.deepEqual(news(), ['weather']);
  const { received, failure, answeredAt, isLost } = contacts.of('weather') ?? {};
  assert.equal(text(received?.body), '{"a":1}');
  assert.deepEqual([received?.hash, received?.path], [sha256Hex('{"a":1}'), '/.well-known/agent-card.json']);
  assert.deepEqual([failure, isLost, answeredAt?.getTime()], [undefined, false, clock.now().getTime()]);
  for (let i = 0; i < 10; i += 1) keep('weather');
  await clock.advance(33_000 * 10);
  assert.ok(asked.length >= 10 && asked.length <= 13, `${asked.length}`);
  assert.deepEqual(news(), []);
  assert.deepEqual(
    [asked[0]?.known, asked[1]?.known],
    [undefined, { path: '/.well-known/agent-card.json', etag: '"1"' }],
  );
});

test('another document, a failure, another failure and a recovery wake the card, each once', async () => {
  const answers = [
    card('{"a":1}'),
    card('{"a":2}'),
    failed('NotJSON'),
    failed('NotJSON'),
    failed('ConnectionFailed'),
    card('{"a":2}'),
    { kind: 'unchanged' } as const,
  ];
  const { clock, contacts, keep, news } = bed((_, count) => quick(answers[count - 1] ?? card('{"a":2}')));
  keep('weather', { patienceMs: 1e9 });
  const told: string[] = [];
  for (let i = 0; i < answers.length; i += 1) {
    await clock.advance(i === 0 ? 5 : pauseMs('weather', 30_000, 0));
    const { received, failure } = contacts.of('weather') ?? {};
    told.push(`${text(received?.body)} ${failure?.reason ?? ''} ${news().length}`);
  }
  assert.deepEqual(told, [
    '{"a":1}  1',
    '{"a":2}  1',
    '{"a":2} NotJSON 1',
    '{"a":2} NotJSON 0',
    '{"a":2} ConnectionFailed 1',
    '{"a":2}  1',
    '{"a":2}  0',
  ]);
});

test('an agent that moved is asked at once, without the ETag of the place it left, and what was under way counts no more', async () => {
  const { clock, contacts, keep, asked, open, news } = bed((host, count) =>
    host === 'weather' && count === 2 ? hangs : quick(card(`{"at":"${host}"}`, '"1"')),
  );
  keep('weather');
  await clock.advance(5);
  await clock.advance(34_000);
  assert.equal(open(), 1);
  keep('weather', { endpoints: [endpoint('new-weather')] });
  assert.equal(text(contacts.of('weather')?.received?.body), '{"at":"weather"}');
  await clock.advance(5);
  assert.deepEqual([asked.at(-1)?.host, asked.at(-1)?.known, open()], ['new-weather', undefined, 0]);
  assert.equal(text(contacts.of('weather')?.received?.body), '{"at":"new-weather"}');
  assert.equal(contacts.of('weather')?.failure, undefined);
  assert.deepEqual(news(), ['weather', 'weather']);
  keep('weather', { endpoints: [{ ...endpoint('new-weather'), via: 'Service other' }] });
  await clock.advance(5);
  assert.equal(asked.length, 3);
});

test('a shorter period counts from now on', async () => {
  const { clock, keep, asked } = bed(() => quick(card('{}')));
  keep('weather', { periodMs: 3_600_000 });
  await clock.advance(10_000);
  keep('weather', { periodMs: 5_000 });
  await clock.advance(5_500);
  assert.equal(asked.length, 2);
  await clock.advance(5_500);
  assert.equal(asked.length, 3);
});

test('a refresh asks now and without ETag, and wakes the card though the document is the same', async () => {
  const { clock, contacts, keep, asked, news } = bed((_, count) =>
    quick(count === 2 ? failed('NotJSON') : card('{}', '"1"')),
  );
  keep('weather');
  await clock.advance(5);
  news();
  contacts.refresh('weather');
  await clock.advance(5);
  assert.deepEqual(news(), ['weather']);
  await clock.advance(34_000);
  assert.deepEqual(
    asked.map(({ known }) => known),
    [undefined, undefined, undefined],
  );
  assert.deepEqual(news(), ['weather']);
  contacts.refresh('weather');
  await clock.advance(5);
  assert.deepEqual([news(), asked.length], [['weather'], 4]);
  contacts.refresh('nobody');
});

test('a refresh while a request with ETag is under way is served by the next one', async () => {
  const { clock, contacts, keep, asked, news } = bed((_, count) =>
    count === 2 ? { afterMs: 1_000, fetched: { kind: 'unchanged' } } : quick(card('{}', '"1"')),
  );
  keep('weather');
  await clock.advance(5);
  news();
  for (let i = 0; asked.length < 2; i += 1) await clock.advance(500);
  contacts.refresh('weather');
  await clock.advance(1_005);
  assert.deepEqual([asked.length, asked[2]?.known, news()], [3, undefined, ['weather']]);
});

test('a document over 64 KiB is there for the next pass, and later only its hash when others needed the room', async () => {
  const long = (host: string) => JSON.stringify({ name: host.repeat(70_000) });
  const { clock, contacts, keep, news } = bed((host) => quick(card(long(host), '"1"')), { roomBytes: 100_000 });
  keep('a');
  await clock.advance(5);
  assert.equal(text(contacts.of('a')?.received?.body), long('a'));
  keep('b');
  await clock.advance(5);
  assert.deepEqual(
    [contacts.of('a')?.received?.body, contacts.of('a')?.received?.hash],
    [undefined, sha256Hex(long('a'))],
  );
  news();
  contacts.refresh('a');
  await clock.advance(5);
  assert.deepEqual([text(contacts.of('a')?.received?.body), news()], [long('a'), ['a']]);
  assert.ok(contacts.counts().bodyBytes < 100_000);
});

test('a forgotten card is not asked for, its request is aborted, and nothing is left of it', async () => {
  const { clock, contacts, keep, open, news, asked } = bed(() => hangs);
  keep('weather');
  await clock.advance(5);
  assert.equal(open(), 1);
  contacts.forget('weather');
  contacts.forget('weather');
  await clock.advance(1_000_000);
  assert.deepEqual([open(), contacts.of('weather'), news(), asked.length, clock.timers], [0, undefined, [], 1, 0]);
  assert.deepEqual(contacts.counts(), {
    agents: 0,
    lanes: { quick: { asking: 0, waiting: 0 }, slow: { asking: 0, waiting: 0 } },
    bodyBytes: 0,
  });
});

test('a controller that loses the lease stops asking, aborts what is under way and wakes nobody; started again it works', async () => {
  const rig = bed((_, count) => (count === 1 ? hangs : quick(card('{}'))), { limit: 4 });
  const { clock, contacts, keep, open, news, asked } = rig;
  keep('before');
  for (let i = 0; i < 10; i += 1) keep(`c${i}`);
  await clock.advance(5);
  assert.equal(open(), 3);
  const before = asked.length;
  rig.stop();
  assert.deepEqual([open(), contacts.of('before')], [0, undefined]);
  keep('late');
  await clock.advance(1_000_000);
  assert.deepEqual([asked.length, clock.timers, news(), contacts.of('late')], [before, 0, [], undefined]);
  const stop = rig.start();
  keep('before');
  await clock.advance(5);
  assert.deepEqual([news(), contacts.of('before')?.isLost], [['before'], false]);
  stop();
});

test('after a start the cards that are known already are asked for over a period, new ones at once', async () => {
  const { clock, keep, asked } = bed(() => quick(card('{}')));
  for (let i = 0; i < 200; i += 1) keep(`c${i}`, { isNew: false });
  keep('new');
  await clock.advance(0);
  assert.deepEqual(
    asked.map(({ host }) => host),
    ['new'],
  );
  await clock.advance(15_000);
  assert.ok(asked.length > 60 && asked.length < 140, `${asked.length}`);
  await clock.advance(15_000);
  assert.equal(new Set(asked.map(({ host }) => host)).size, 201);
});

test('an ask that breaks its word and rejects is a failure like any other', async () => {
  const { clock, contacts, keep } = bed(() => quick(card('{}')), { ask: () => Promise.reject(new Error('a bug')) });
  keep('weather');
  await clock.advance(5);
  assert.deepEqual(contacts.of('weather')?.failure, {
    reason: 'ConnectionFailed',
    message: 'http://10.0.0.1:8080 (pod weather, Service weather, port a2a) cannot be asked: Error: a bug',
  });
  assert.equal(contacts.counts().lanes.quick.asking, 0);
});
