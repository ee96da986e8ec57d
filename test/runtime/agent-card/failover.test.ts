/** One replica that fails is not the agent: the next pod is asked before an attempt counts as failed, within one deadline. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Endpoints } from '../../../runtime/agent-card/contact.ts';
import { askInTurn } from '../../../runtime/agent-card/round.ts';
import { bed, type Behaviour, card, endpoint, failed, hangs, quick } from './contacts-bed.ts';

const good = quick(card('{}', '"1"'));
const refused = quick(failed('ConnectionFailed'));
const of = (pod: string, revision = '1'): Endpoint => ({ ...endpoint(pod), revision });
const pods = (first: Endpoint, ...others: readonly Endpoint[]): { readonly endpoints: Endpoints } => ({
  endpoints: [first, ...others],
});
const three = pods(of('a'), of('b'), of('c'));
/** More than a period. */
const nextMs = 34_000;

/** Agents that behave as in `as`, which a test may change. */
function rig(as: Record<string, Behaviour>) {
  const made = bed((host) => as[host] ?? refused);
  let seen = 0;
  return {
    ...made,
    /** Who was asked since the last call. */
    turns: () => {
      const names = made.asked.slice(seen).map(({ host }) => host);
      seen = made.asked.length;
      return names.join(' ');
    },
  };
}

test('a replica that refuses is passed over at once, and the one that answered is asked first from then on', async () => {
  const { clock, contacts, keep, turns, attempts } = rig({ a: refused, b: good });
  keep('weather', three);
  await clock.advance(20);
  assert.equal(turns(), 'a b');
  assert.equal(contacts.of('weather')?.failure, undefined);
  await clock.advance(nextMs);
  assert.equal(turns(), 'b');
  assert.deepEqual(attempts, ['card', 'card']);
});

test('a replica that hangs leaves time for the others in the same deadline, and none is lost by it', async () => {
  const { clock, contacts, keep, turns, asked } = rig({ a: hangs, b: good });
  keep('weather', { ...three, patienceMs: 15_000 });
  await clock.advance(10_000);
  assert.equal(turns(), 'a b');
  assert.equal(asked[1]?.atMs, 6_000);
  assert.equal(contacts.of('weather')?.failure, undefined);
  await clock.advance(300_000);
  assert.match(turns(), /^b( b)+$/);
});

test('where all hang, an attempt takes no longer than with one pod, and hanging is told of the first', async () => {
  const { clock, contacts, keep, asked, open, attempts } = rig({ a: hangs, b: hangs, c: hangs });
  keep('weather', three);
  await clock.advance(9_999);
  assert.equal(open(), 1);
  await clock.advance(1);
  assert.deepEqual([open(), attempts], [0, ['Timeout']]);
  assert.deepEqual(
    asked.map(({ atMs }) => atMs),
    [0, 6_000, 8_000],
  );
  const { failure } = contacts.of('weather') ?? {};
  assert.equal(failure?.reason, 'Timeout');
  assert.match(
    failure?.message ?? '',
    /a.* gave no complete answer within 6 s; 2 more of its pods gave no card either$/,
  );
  await clock.advance(nextMs);
  assert.equal(attempts.length, 1, 'whoever hangs is asked more rarely');
});

test('of many that fail two others are tried in each attempt until one answers; the failure told stays the same meanwhile', async () => {
  const as: Record<string, Behaviour> = { d: refused, e: refused };
  const { clock, keep, turns, news } = rig(as);
  keep('weather', { ...pods(of('a'), of('b'), of('c'), of('d'), of('e')), patienceMs: 1e9 });
  await clock.advance(20);
  assert.deepEqual([turns(), news()], ['a b c', ['weather']]);
  await clock.advance(nextMs);
  assert.deepEqual([turns(), news()], ['a d e', []]);
  as['c'] = good;
  await clock.advance(nextMs);
  assert.deepEqual([turns(), news()], ['a b c', ['weather']]);
  await clock.advance(nextMs);
  assert.equal(turns(), 'c');
});

test('the ETag of one pod is not sent to another', async () => {
  const as: Record<string, Behaviour> = { a: good, b: good };
  const { clock, keep, asked } = rig(as);
  keep('weather', three);
  await clock.advance(20);
  as['a'] = refused;
  await clock.advance(nextMs);
  assert.deepEqual(
    asked.map(({ host, known }) => `${host} ${known?.etag ?? ''}`),
    ['a ', 'a "1"', 'b '],
  );
});

test('nor when the one that gave it goes while another is asked, nor to one that comes to its name and address', async () => {
  const as: Record<string, Behaviour> = { a: good };
  const { clock, keep, asked } = rig(as);
  keep('weather', pods(of('a'), of('b')));
  await clock.advance(20);
  Object.assign(as, { a: refused, b: { afterMs: 1_000, fetched: failed('NotJSON') } });
  while (asked.length < 3) await clock.advance(100);
  keep('weather', pods(of('b')));
  await clock.advance(nextMs);
  Object.assign(as, { a: good });
  keep('weather', pods(of('b'), of('a')));
  await clock.advance(nextMs);
  assert.deepEqual(
    asked.map(({ host, known }) => `${host} ${known?.etag ?? ''}`),
    ['a ', 'a "1"', 'b ', 'b ', 'a '],
  );
});

test('it is told again to the pod that gave it, though that one is not the first to be asked', async () => {
  const as: Record<string, Behaviour> = { a: good };
  const { clock, keep, asked } = rig(as);
  keep('weather', pods(of('a')));
  await clock.advance(20);
  keep('weather', pods(of('c', '2'), of('a')));
  await clock.advance(20);
  as['c'] = refused;
  await clock.advance(nextMs);
  assert.deepEqual(
    asked.map(({ host, known }) => `${host} ${known?.etag ?? ''}`),
    ['a ', 'c ', 'a ', 'a "1"'],
  );
});

test('replicas that serve different documents take no turns', async () => {
  const { clock, contacts, keep, news } = rig({ a: quick(card('{"at":"a"}')), b: quick(card('{"at":"b"}')) });
  keep('weather', three);
  await clock.advance(20);
  news();
  await clock.advance(300_000);
  assert.deepEqual([news(), String(contacts.of('weather')?.received?.body)], [[], '{"at":"a"}']);
});

test('one more pod disturbs nobody; the first pod of a newer revision is asked at once', async () => {
  const { clock, keep, turns } = rig({ a: good, d: good });
  keep('weather', three);
  await clock.advance(20);
  keep('weather', pods(of('a'), of('b'), of('c'), of('d')));
  await clock.advance(20);
  assert.equal(turns(), 'a');
  keep('weather', pods(of('d', '2'), of('a'), of('b'), of('c')));
  await clock.advance(20);
  assert.equal(turns(), 'd');
});

test('a newer revision that does not answer leaves the old one in charge, and is not asked again and again', async () => {
  const { clock, contacts, keep, turns } = rig({ a: good });
  keep('weather', three);
  await clock.advance(20);
  turns();
  keep('weather', pods(of('d', '2'), of('a'), of('b')));
  await clock.advance(20);
  assert.deepEqual([turns(), contacts.of('weather')?.failure], ['d a', undefined]);
  keep('weather', pods(of('d', '2'), of('e', '2'), of('a'), of('b')));
  await clock.advance(nextMs);
  assert.equal(turns(), 'a');
});

test('a pod that goes while it is asked, or before its turn, is not believed: its address may be another’s by then', async () => {
  const { clock, contacts, keep, turns, open } = rig({
    a: hangs,
    b: { afterMs: 1_000, fetched: card('"b"') },
    c: good,
  });
  keep('weather', three);
  await clock.advance(5_000);
  keep('weather', pods(of('a'), of('c')));
  await clock.advance(2_000);
  assert.equal(turns(), 'a c', 'b went before its turn');
  assert.equal(contacts.of('weather')?.answeredAt !== undefined, true);

  const other = rig({ a: refused, b: { afterMs: 5_000, fetched: card('"b"') } });
  other.keep('weather', three);
  await other.clock.advance(100);
  other.keep('weather', pods(of('a'), of('c')));
  await other.clock.advance(20);
  assert.equal(other.turns(), 'a b a c', 'b went in its turn: begun anew without it');
  assert.equal(other.contacts.of('weather')?.received, undefined);
  assert.deepEqual([open(), other.open()], [0, 0]);
});

test('agents all of whose pods hang hold no more places than those with one, and the others keep their rhythm', async () => {
  const { clock, contacts, keep, asked } = bed((host) => (host.startsWith('fine') ? good : hangs), { limit: 8 });
  const hung = Array.from({ length: 30 }, (_, i) => `hung-${i}`);
  const fine = Array.from({ length: 10 }, (_, i) => `fine-${i}`);
  for (const uid of hung) keep(uid, pods(of(uid), of(`${uid}b`), of(`${uid}c`)));
  for (const uid of fine) keep(uid);
  await clock.advance(30_000);
  for (let ms = 0; ms < 300_000; ms += 1_000) {
    await clock.advance(1_000);
    assert.ok(contacts.counts().lanes.slow.asking <= 2);
  }
  for (const uid of fine) assert.ok(asked.filter(({ host }) => host === uid).length >= 9, uid);
});

test('what is told of a replica that hangs is the same in every attempt, whatever the clock says between the lines', async () => {
  let now = 0;
  const time = {
    now: () => new Date(0),
    monotonicMs: () => (now += 0.013_7),
    after: (_: number, late: () => void) => {
      queueMicrotask(late);
      return () => undefined;
    },
  };
  const attempt = async (): Promise<string> => {
    const { fetched } = await askInTurn(
      (_, __, signal) =>
        new Promise((resolve) => {
          const timeout = { kind: 'failed', reason: 'Timeout', message: 'ended' } as const;
          signal.addEventListener('abort', () => resolve(timeout));
        }),
      {
        turns: three.endpoints,
        known: undefined,
        signal: new AbortController().signal,
        time,
        timeoutMs: 10_000,
        begin: () => true,
      },
    );
    return fetched.kind === 'failed' ? fetched.message : '';
  };
  const told = new Set([await attempt(), await attempt(), await attempt()]);
  assert.equal(told.size, 1);
  assert.match([...told][0] ?? '', / within 6 s; /);
});
