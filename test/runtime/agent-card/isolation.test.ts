/** AC-04: 500 agents of which 50 hang, 50 stream without end and 50 send garbage: the others notice nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseMs } from '../../../runtime/agent-card/rhythm.ts';
import { bed, type Behaviour, card, failed, hangs, quick, wanted } from './contacts-bed.ts';

const kinds = ['hang', 'flood', 'junk'] as const;
const uids = Array.from({ length: 500 }, (_, i) => `${kinds[Math.floor(i / 50)] ?? 'fine'}-${i}`);
const healthy = uids.filter((uid) => uid.startsWith('fine'));
const isHealthy = (uid: string): boolean => uid.startsWith('fine');

const behaviours: Readonly<Record<string, Behaviour>> = {
  hang: hangs,
  flood: { afterMs: 200, fetched: failed('TooLarge') },
  junk: quick(failed('NotJSON')),
  fine: quick(card('{}')),
};
const behave = (host: string): Behaviour => behaviours[host.split('-')[0] ?? ''] ?? hangs;

const spanMs = 300_000;
const periodMs = 30_000;

test('AC-04: every healthy agent is asked in its own rhythm for five minutes, as if there were no others', async () => {
  const { clock, keep, asked } = bed(behave);
  for (const uid of uids) keep(uid, { isNew: false });
  await clock.advance(spanMs);
  const times = Map.groupBy(asked, ({ host }) => host);
  for (const uid of healthy) {
    const at = (times.get(uid) ?? []).map(({ atMs }) => atMs);
    const gaps = at.slice(1).map((ms, i) => Math.round(ms - (at[i] ?? 0)));
    assert.deepEqual(new Set(gaps), new Set([Math.round(pauseMs(uid, periodMs, 0))]), uid);
    assert.ok(at.length >= Math.floor(spanMs / 33_000), uid);
  }
  for (const uid of uids.slice(0, 100))
    assert.ok(
      (times.get(uid) ?? []).length <= 1 + spanMs / (periodMs * 4) + 2,
      `${uid} is asked four times more rarely`,
    );
  for (const uid of uids.slice(100, 150)) assert.ok((times.get(uid) ?? []).length >= Math.floor(spanMs / 33_000), uid);
});

test('AC-04: 500 that are new at once: those that hang have the slow places alone after one look at each', async () => {
  const { clock, contacts, keep, asked, open } = bed(behave);
  for (const uid of uids) keep(uid);
  let most = 0;
  for (let ms = 0; ms < 120_000; ms += 250) {
    await clock.advance(250);
    const { quick: fast, slow } = contacts.counts().lanes;
    assert.ok(fast.asking <= 48 && slow.asking <= 16 && open() === fast.asking + slow.asking);
    most = Math.max(most, slow.asking);
    if (ms >= 10_000) assert.equal(fast.waiting, 0);
  }
  assert.equal(most, 16);
  const first = asked.filter(({ host, atMs }) => isHealthy(host) && atMs < periodMs * 0.9).length;
  assert.equal(first, healthy.length);
  for (const uid of healthy) assert.ok(asked.filter(({ host }) => host === uid).length >= 3, uid);
});

test('AC-04: agents that take just the time that is still quick, however many, delay those of their namespace alone', async () => {
  const { clock, contacts, asked } = bed((host) =>
    host.startsWith('evil') ? { afterMs: 1_900, fetched: card('{}') } : quick(card('{}')),
  );
  for (let i = 0; i < 1_500; i += 1)
    contacts.keep(`evil-${i}`, { namespace: 'evil', name: `evil-${i}` }, wanted(`evil-${i}`, { periodMs: 5_000 }));
  const good = Array.from({ length: 50 }, (_, i) => `good-${i}`);
  for (const uid of good)
    contacts.keep(
      uid,
      { namespace: `team${uid.at(-1) ?? ''}`, name: uid },
      wanted(uid, { periodMs: 5_000, patienceMs: 15_000 }),
    );
  await clock.advance(120_000);
  for (const uid of good) {
    const at = asked.filter(({ host }) => host === uid).map(({ atMs }) => atMs);
    const longest = Math.max(...at.slice(1).map((ms, i) => ms - (at[i] ?? 0)));
    assert.ok(longest < 9_000, `${uid} waited ${longest} ms`);
  }
});

test('AC-04: agents that change their address to be new again hold no place longer than a look', async () => {
  const rig = bed((host) => behave(host.replace(/^moved\d+-/, '')), { limit: 8 });
  const { clock, contacts, keep, asked } = rig;
  for (const uid of uids.slice(0, 50)) keep(uid, { periodMs: 5_000 });
  for (const uid of healthy.slice(0, 20)) keep(uid);
  for (let i = 0; i < 40; i += 1) {
    for (const uid of uids.slice(0, 3))
      contacts.keep(uid, { name: uid }, wanted(`moved${i}-${uid}`, { periodMs: 5_000 }));
    await clock.advance(5_000);
  }
  for (const uid of healthy.slice(0, 20)) {
    const count = asked.filter(({ host }) => host === uid).length;
    assert.ok(count >= 5, `${uid} ${count}`);
  }
});

test('AC-04: one that answers quickly again is back in its rhythm at once', async () => {
  const { clock, contacts, keep, asked } = bed((_, count) =>
    count <= 3 ? hangs : { afterMs: 1_000, fetched: card('{}') },
  );
  keep('weather', { patienceMs: 1e9 });
  const lane = (): string => {
    const { quick, slow } = contacts.counts().lanes;
    return `${quick.asking} quick, ${slow.asking} slow`;
  };
  const lanes: string[] = [];
  while (contacts.of('weather')?.answeredAt === undefined) {
    const count = asked.length;
    await clock.advance(500);
    if (asked.length > count) lanes.push(lane());
  }
  assert.deepEqual(lanes, ['1 quick, 0 slow', '0 quick, 1 slow', '0 quick, 1 slow', '0 quick, 1 slow']);
  const before = asked.length;
  await clock.advance(33_000 * 10);
  assert.ok(asked.length - before >= 10);
  assert.deepEqual(contacts.of('weather')?.failure, undefined);
});

test('AC-04: a slow answer is an answer; it is waited for among the slow', async () => {
  const slow: Behaviour = { afterMs: 6_000, fetched: card('{}') };
  const { clock, contacts, keep, attempts } = bed(() => slow);
  for (let i = 0; i < 16; i += 1) keep(`slow-${i}`);
  await clock.advance(3_000);
  assert.deepEqual(contacts.counts().lanes.quick.asking, 0);
  await clock.advance(120_000);
  assert.deepEqual(new Set(attempts), new Set(['card']));
  assert.equal(contacts.of('slow-3')?.isLost, false);
});

test('AC-04: agents that answer slowly keep their verdicts among a hundred that hang, and those are asked all the same', async () => {
  const slow: Behaviour = { afterMs: 6_000, fetched: card('{}') };
  const { clock, contacts, keep, asked } = bed((host) => (host.startsWith('slow') ? slow : hangs), { limit: 16 });
  const five = Array.from({ length: 5 }, (_, i) => `slow-${i}`);
  const hundred = Array.from({ length: 100 }, (_, i) => `hung-${i}`);
  for (const uid of five) keep(uid);
  await clock.advance(30_000);
  for (const uid of hundred) keep(uid);
  for (let ms = 0; ms < 900_000; ms += 5_000) {
    await clock.advance(5_000);
    for (const uid of five) assert.equal(contacts.of(uid)?.isLost, false, `${uid} after ${ms} ms`);
  }
  const tries = Map.groupBy(
    asked.filter(({ atMs }) => atMs > 300_000),
    ({ host }) => host,
  );
  for (const uid of hundred) assert.ok((tries.get(uid)?.length ?? 0) > 0, uid);
});
