/** The issuer's keys through rotation, nonsense and outage. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import { createLog } from '../../../../runtime/engine/log.ts';
import { createKeeper, type KeeperOptions } from '../../../../runtime/sidecar/inbound/keeper.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { answer, refusesConnections, type Said, scriptedIdp } from '../idp/scripted-idp.ts';
import { jwksOf, testKey } from './fixtures.ts';

const [first, second] = [await testKey('k1'), await testKey('k2')];
const noSignal = new AbortController().signal;
const url = 'https://idp.example/certs';

function keeperWith(said: Said, options: Partial<KeeperOptions> = {}) {
  const client = scriptedIdp(said);
  const clock = fakeClock();
  const metrics = createMetrics({ process: false });
  const log = createLog({ level: 'silent', name: 'test' });
  const keeper = createKeeper({ url, client, clock, metrics, log, ...options });
  return { keeper, client, clock, metrics };
}

const good = answer(jwksOf(first));

test('the first request waits for the first fetch, and no longer than it lives', async () => {
  const { keeper, client } = keeperWith(good);
  let release: () => void = () => undefined;
  client.say(() => new Promise((resolve) => (release = () => resolve(good))));
  keeper.start();
  const ended = new AbortController();
  const given = Promise.resolve(keeper.keys(ended.signal));
  const waiting = Promise.resolve(keeper.keys(noSignal));
  ended.abort();
  assert.equal((await given).kind, 'none');
  release();
  assert.equal((await waiting).kind, 'held');
  assert.equal(client.asked.length, 1);
  keeper.stop();
});

test('keys are fetched again every five minutes', async () => {
  const { keeper, client, clock } = keeperWith(good);
  keeper.start();
  await clock.advance(0);
  client.say(answer(jwksOf(second)));
  await clock.advance(300_000);
  assert.equal(client.asked.length, 2);
  keeper.stop();
  await clock.advance(900_000);
  assert.equal(client.asked.length, 2);
});

test('an unknown key is asked for once in the cool-down, by however many', async () => {
  const { keeper, client, clock } = keeperWith(good);
  keeper.start();
  await clock.advance(0);
  const before = await keeper.keys(noSignal);
  client.say(answer(jwksOf(first, second)));
  const all = await Promise.all(Array.from({ length: 50 }, () => keeper.refetched(noSignal)));
  assert.equal(client.asked.length, 2);
  assert.ok(all.every(({ keys, isDoubtful }) => keys.kind === 'held' && keys.count === 2 && !isDoubtful));
  const [after] = all;
  assert.ok(before.kind === 'held' && after?.keys.kind === 'held' && before.fingerprint !== after.keys.fingerprint);
  await clock.advance(29_000);
  await keeper.refetched(noSignal);
  assert.equal(client.asked.length, 2);
  await clock.advance(1_000);
  await keeper.refetched(noSignal);
  assert.equal(client.asked.length, 3);
  keeper.stop();
});

test('in an outage the keys serve for an hour; then nothing can be checked until it ends', async () => {
  const { keeper, client, clock } = keeperWith(good);
  keeper.start();
  await clock.advance(0);
  client.say(refusesConnections);
  await clock.advance(3_599_000);
  assert.equal((await keeper.keys(noSignal)).kind, 'held');
  assert.equal((await keeper.refetched(noSignal)).isDoubtful, true);
  assert.match(
    keeper.degraded() ?? '',
    /60 min old and serve for 60 min: https:\/\/idp.example\/certs refuses connections/,
  );
  assert.equal(keeper.outage(), undefined);
  await clock.advance(2_000);
  const gone = await keeper.keys(noSignal);
  assert.ok(gone.kind === 'none' && gone.retryAfterSeconds >= 1 && gone.retryAfterSeconds <= 30, JSON.stringify(gone));
  assert.match(keeper.outage() ?? '', /are older than 60 min.*refuses connections/);
  assert.equal(keeper.degraded(), undefined);
  client.say(good);
  await clock.advance(30_000);
  assert.equal((await keeper.keys(noSignal)).kind, 'held');
  assert.equal(keeper.outage() ?? keeper.degraded(), undefined);
  keeper.stop();
});

const nonsense: readonly (readonly [what: string, said: Said, why: RegExp])[] = [
  ['a page', answer('<html>busy</html>'), /no JSON/],
  ['an empty set', answer('{"keys":[]}'), /no key that can check/],
  ['an error', answer('{}', 500), /status 500/],
  ['a redirect', answer('', 302), /status 302/],
  ['too much', { kind: 'no-answer', reason: 'too-large', why: 'answers with more than 9 bytes' }, /more than 9/],
];

for (const [what, said, why] of nonsense) {
  test(`${what} instead of keys: those from before stay`, async () => {
    const { keeper, client, clock } = keeperWith(good);
    keeper.start();
    await clock.advance(0);
    client.say(said);
    await clock.advance(300_000);
    assert.equal((await keeper.keys(noSignal)).kind, 'held');
    assert.match(keeper.degraded() ?? '', why);
    keeper.stop();
  });
}

test('without keys from the start it is tried again within seconds, ever more slowly, and metrics tell', async () => {
  const { keeper, client, clock, metrics } = keeperWith(refusesConnections);
  keeper.start();
  await clock.advance(0);
  assert.deepEqual(await keeper.keys(noSignal), { kind: 'none', retryAfterSeconds: 1 });
  assert.match(keeper.outage() ?? '', /never were fetched.*refuses connections/);
  await clock.advance(1_000);
  assert.equal(client.asked.length, 2);
  await clock.advance(600_000);
  assert.ok(client.asked.length > 20 && client.asked.length < 60, `${client.asked.length} fetches in ten minutes`);
  const text = await metrics.text();
  assert.match(text, /rossoctl_sidecar_jwks_fetches_total\{result="failure"\} \d+/);
  assert.match(text, /rossoctl_sidecar_jwks_age_seconds -1/);
  keeper.stop();
});
