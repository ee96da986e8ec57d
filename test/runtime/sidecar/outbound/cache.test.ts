/** Tokens that are held: for whom, how long, and fetched how often. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import { createTokenCache, type TokenCacheOptions } from '../../../../runtime/sidecar/outbound/cache.ts';
import type { TokenWish } from '../../../../runtime/sidecar/outbound/token-request.ts';
import type { TokenOutcome } from '../../../../runtime/sidecar/outbound/token-response.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { callersToken, granted, now, nowSeconds, tokenWith, wishFor } from './fixtures.ts';

const noSignal = new AbortController().signal;

function bed(options: Partial<TokenCacheOptions> = {}) {
  const clock = fakeClock(now);
  const wishes: TokenWish[] = [];
  let next: () => TokenOutcome | Promise<TokenOutcome> = () => granted(`token-${wishes.length}`);
  const tokenFor = createTokenCache({
    fetchToken: async (wish) => {
      wishes.push(wish);
      return next();
    },
    clientId: () => 'agent-a',
    clock,
    metrics: createMetrics({ process: false }),
    ...options,
  });
  const get = async (wish: TokenWish) => {
    const outcome = await tokenFor(wish, noSignal);
    return outcome?.kind === 'token' ? outcome.token : outcome?.kind;
  };
  return { get, tokenFor, clock, wishes, answers: (it: typeof next) => void (next = it) };
}

test('everything the answer depends on is in the key', async () => {
  let id = 'agent-a';
  const { get, wishes } = bed({ clientId: () => id });
  const base = wishFor('tool-x');
  const variants: readonly TokenWish[] = [
    base,
    { ...base, audience: 'tool-y' },
    { ...base, scopes: ['tool-aud', 'more'] },
    { ...base, scopes: ['tool-aud more'] },
    { ...base, tokenUrl: 'https://other.example' },
    { ...base, subject: undefined },
    { ...base, subject: { token: tokenWith({ sub: 'user-2' }), expiresAtMs: (nowSeconds + 300) * 1000 } },
  ];
  const tokens = [];
  for (const variant of variants) tokens.push(await get(variant));
  id = 'agent-b';
  tokens.push(await get(base));
  assert.equal(new Set(tokens).size, variants.length + 1);
  id = 'agent-a';
  assert.equal(await get(base), tokens[0]);
  assert.equal(await get({ ...base, scopes: base.scopes.toReversed() }), tokens[0]);
  assert.equal(wishes.length, variants.length + 1);
});

test('one fetch for all who wait; who leaves early does not end it', async () => {
  const { tokenFor, wishes, answers } = bed();
  let release: () => void = () => undefined;
  answers(() => new Promise((resolve) => (release = () => resolve(granted('shared')))));
  const leaving = new AbortController();
  const left = Promise.resolve(tokenFor(wishFor('a'), leaving.signal));
  const waiting = Array.from({ length: 20 }, () => Promise.resolve(tokenFor(wishFor('a'), noSignal)));
  leaving.abort();
  assert.equal(await left, undefined);
  release();
  for (const outcome of await Promise.all(waiting)) assert.deepEqual(outcome, granted('shared'));
  assert.equal(wishes.length, 1);
});

test('a token is renewed after four fifths of its time while it still serves, and never handed out at its end', async () => {
  const { get, clock, wishes } = bed();
  assert.equal(await get(wishFor('a')), 'token-1');
  await clock.advance(215_000);
  assert.equal(await get(wishFor('a')), 'token-1');
  assert.equal(wishes.length, 1);
  await clock.advance(2_000);
  assert.equal(await get(wishFor('a')), 'token-1');
  assert.equal(await get(wishFor('a')), 'token-2');
  assert.equal(wishes.length, 2);
});

test("a token ends before the caller's does", async () => {
  const { get, clock, wishes } = bed();
  const wish = { ...wishFor('a'), subject: { token: callersToken, expiresAtMs: (nowSeconds + 60) * 1000 } };
  await get(wish);
  await clock.advance(49_000);
  await get({ ...wish, audience: 'b' });
  assert.equal(wishes.length, 2);
  await get(wish);
  assert.equal(wishes.length, 3);
});

test('what cannot be renewed now still serves to its end; what is refused ends at once', async () => {
  for (const [kind, expected] of [
    ['unavailable', 'token-1'],
    ['misconfigured', 'token-1'],
    ['refused', 'refused'],
  ] as const) {
    const { get, clock, answers, wishes } = bed();
    await get(wishFor('a'));
    const failure = { kind, description: '', code: '', status: 401, retryAfterSeconds: 1 } as unknown as TokenOutcome;
    answers(() => failure);
    await clock.advance(220_000);
    for (let i = 0; i < 10; i++) await get(wishFor('a'));
    assert.equal(await get(wishFor('a')), expected);
    assert.equal(wishes.length, 2, 'and is not asked for at each call');
    await clock.advance(50_000);
    assert.equal(await get(wishFor('a')), kind);
  }
});

test('a refusal is remembered for seconds, an outage not at all, a token of unknown life for nobody else', async () => {
  const { get, clock, answers, wishes } = bed();
  answers(() => ({ kind: 'refused', status: 401, code: 'invalid_grant' }));
  for (let i = 0; i < 5; i++) assert.equal(await get(wishFor('a')), 'refused');
  assert.equal(wishes.length, 1);
  await clock.advance(5_001);
  await get(wishFor('a'));
  assert.equal(wishes.length, 2);
  answers(() => ({ kind: 'unavailable', description: '', retryAfterSeconds: 1 }));
  for (let i = 0; i < 3; i++) await get(wishFor('b'));
  assert.equal(wishes.length, 5);
  answers(() => ({ kind: 'token', token: 'x', lifeSeconds: undefined }));
  for (let i = 0; i < 3; i++) await get(wishFor('c'));
  assert.equal(wishes.length, 8);
});

test('so many fetches at once and no more; so many characters held and no more', async () => {
  const { tokenFor, answers, wishes } = bed({ mostFetches: 3 });
  answers(() => new Promise(() => undefined));
  for (let i = 0; i < 3; i++) void tokenFor(wishFor(`a${i}`), noSignal);
  assert.deepEqual(await tokenFor(wishFor('a4'), noSignal), {
    kind: 'unavailable',
    description: 'too many tokens are being fetched at once',
    retryAfterSeconds: 1,
  });
  assert.equal(wishes.length, 3);
  const small = bed({ mostCharacters: 1_000 });
  for (let i = 0; i < 10; i++) await small.get(wishFor(`a${i}`));
  await small.get(wishFor('a9'));
  assert.equal(small.wishes.length, 10);
  await small.get(wishFor('a0'));
  assert.equal(small.wishes.length, 11);
});
