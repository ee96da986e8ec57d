/** The inbound rules as a caller meets them. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createLog } from '../../../../runtime/engine/log.ts';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import { defaultBypassPaths } from '../../../../runtime/config/bypass-paths.ts';
import { createBypass } from '../../../../runtime/sidecar/inbound/bypass.ts';
import { createInbound, type InboundOptions } from '../../../../runtime/sidecar/inbound/decide.ts';
import { createKeeper } from '../../../../runtime/sidecar/inbound/keeper.ts';
import { createVerified } from '../../../../runtime/sidecar/inbound/verified.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { answer, refusesConnections, type Said, scriptedIdp } from '../idp/scripted-idp.ts';
import { bearer, head, type HeadWish, issuer, jwksOf, now, signed, testKey } from './fixtures.ts';

const [key, second] = [await testKey('k1'), await testKey('k2')];
const good = await signed(key);
const noSignal = new AbortController().signal;

async function bed(options: Partial<InboundOptions> = {}, said: Said = answer(jwksOf(key))) {
  const client = scriptedIdp(said);
  const clock = fakeClock(now);
  const metrics = createMetrics({ process: false });
  const log = createLog({ level: 'silent', name: 'test' });
  const keeper = createKeeper({ url: 'https://idp.example/certs', client, clock, metrics, log });
  keeper.start();
  await clock.advance(0);
  const decide = createInbound({
    issuer,
    audiences: ['agent-a'],
    clientId: () => ({ kind: 'none' }),
    bypass: createBypass(defaultBypassPaths, []),
    keeper,
    verified: createVerified(),
    clock,
    metrics,
    isMtlsRequired: false,
    ...options,
  });
  const ask = async (wish: HeadWish) => {
    const decision = await decide(head(wish), noSignal);
    return decision.kind === 'pass' ? decision.reason : `${decision.status} ${decision.error} ${decision.reason}`;
  };
  return { decide, ask, client, clock, metrics, keeper };
}

const challenge = 'Bearer realm="rossoctl"';

test('no token: 401, a plain challenge, and a sentence that says what to send', async () => {
  const { decide } = await bed();
  assert.deepEqual(await decide(head(), noSignal), {
    kind: 'refuse',
    reason: 'no-token',
    status: 401,
    error: 'missing_token',
    description: 'this agent needs an access token: send it as "Authorization: Bearer <token>"',
    headers: { 'www-authenticate': challenge },
  });
});

test('a bad token: 401 with the error in the challenge', async () => {
  const { decide } = await bed();
  const decision = await decide(head({ headers: bearer(await signed(second)) }), noSignal);
  assert.ok(decision.kind === 'refuse');
  assert.equal(decision.status, 401);
  assert.deepEqual(decision.headers, {
    'www-authenticate': `${challenge}, error="invalid_token", error_description="the token is signed with a key that the issuer does not publish: get a new token"`,
  });
});

test('each kind of request has its answer', async () => {
  const { ask } = await bed();
  const rows: readonly (readonly [wish: HeadWish, expected: string])[] = [
    [{ headers: bearer(good) }, 'token'],
    [{ headers: { authorization: `bearer   ${good}` } }, 'token'],
    [{ path: '/healthz' }, 'bypass'],
    [{ path: '/healthz', method: 'POST' }, '401 missing_token no-token'],
    [{ path: '/..%2fhealthz', headers: bearer(good) }, '400 invalid_request path'],
    [{ headers: { authorization: 'Basic abc' } }, '401 missing_token scheme'],
    [{ headers: { authorization: ['Bearer a', 'Bearer b'] } }, '400 invalid_request malformed-header'],
    [{ headers: { authorization: 'Bearer' } }, '400 invalid_request malformed-header'],
    [{ headers: bearer('x'.repeat(20_000)) }, '401 invalid_token too-large'],
    [{ headers: bearer('abc') }, '401 invalid_token malformed'],
    [{ headers: bearer(await signed(key, { claims: { aud: 'agent-b' } })) }, '401 invalid_token audience'],
    // A header says nothing about the direction.
    [
      { headers: { 'x-authbridge-direction': 'outbound', 'x-rossoctl-direction': 'outbound' } },
      '401 missing_token no-token',
    ],
  ];
  for (const [wish, expected] of rows) assert.equal(await ask(wish), expected, JSON.stringify(wish).slice(0, 100));
});

test('who has a token of the issuer for somebody else is told for whom it must be; nobody else is', async () => {
  const { decide } = await bed();
  const description = async (token: string) => {
    const decision = await decide(head({ headers: bearer(token) }), noSignal);
    return decision.kind === 'refuse' ? decision.description : decision.reason;
  };
  const claims = { aud: 'agent-b' };
  assert.equal(
    await description(await signed(key, { claims })),
    'the token is not for this agent: get one for the audience agent-a',
  );
  const forged = await signed({ ...second, kid: 'k1' }, { claims });
  assert.ok(!(await description(forged)).includes('agent-a'));
});

test('a token is verified once, then remembered until its end, its keys or our name change', async () => {
  let id = 'agent-a';
  const { ask, clock, client, metrics } = await bed({ audiences: [], clientId: () => ({ kind: 'known', id }) });
  const verifications = async () =>
    /verifications_total\{result="verified"\} (\d+)/.exec(await metrics.text())?.[1] ?? '0';
  for (let i = 0; i < 3; i++) assert.equal(await ask({ headers: bearer(good) }), 'token');
  assert.equal(await verifications(), '1');
  id = 'agent-z';
  assert.equal(await ask({ headers: bearer(good) }), '401 invalid_token audience');
  id = 'agent-a';
  assert.equal(await ask({ headers: bearer(good) }), 'token');
  assert.equal(await verifications(), '2');
  client.say(answer(jwksOf(second)));
  await clock.advance(300_000);
  assert.equal(await ask({ headers: bearer(good) }), '401 invalid_token key-unknown');
  client.say(answer(jwksOf(key)));
  await clock.advance(30_000);
  assert.equal(await ask({ headers: bearer(good) }), '401 invalid_token expired');
});

test('after a rotation the first token of the new key is good at once', async () => {
  const { ask, client } = await bed();
  client.say(answer(jwksOf(second)));
  assert.equal(await ask({ headers: bearer(await signed(second)) }), 'token');
  assert.equal(await ask({ headers: bearer(good) }), '401 invalid_token key-unknown');
});

test('a flood of tokens with made-up keys fetches once; of other issuers, never', async () => {
  const { ask, client } = await bed();
  const flood = await Promise.all(
    Array.from({ length: 100 }, (_, i) => signed(key, { header: { kid: `made-up-${i}` } })),
  );
  for (const token of flood) assert.equal(await ask({ headers: bearer(token) }), '401 invalid_token key-unknown');
  assert.equal(client.asked.length, 2);
  const foreign = await signed(second, { claims: { iss: 'https://evil.example' } });
  assert.equal(await ask({ headers: bearer(foreign) }), '401 invalid_token issuer');
  assert.equal(client.asked.length, 2);
});

test('an outage of the keys is 503, never 401: before the first, for a key that might be new, after an hour', async () => {
  const down = await bed({}, refusesConnections);
  const decision = await down.decide(head({ headers: bearer(good) }), noSignal);
  assert.ok(decision.kind === 'refuse');
  assert.equal(`${decision.status} ${decision.error}`, '503 keys_unavailable');
  assert.equal(decision.headers?.['retry-after'], '1');

  const { ask, client, clock } = await bed();
  client.say(refusesConnections);
  assert.equal(await ask({ headers: bearer(await signed(second)) }), '503 keys_unavailable keys-unavailable');
  assert.equal(await ask({ headers: bearer(good) }), 'token');
  await clock.advance(3_601_000);
  assert.equal(await ask({ headers: bearer(good) }), '503 keys_unavailable keys-unavailable');
  assert.equal(await ask({ path: '/healthz' }), 'bypass');
});

test('without an audience nothing is accepted, and the answer says what to set', async () => {
  const none = await bed({ audiences: [] });
  const decision = await none.decide(head({ headers: bearer(good) }), noSignal);
  assert.ok(decision.kind === 'refuse' && decision.status === 503);
  assert.match(decision.description, /identity\.allowedAudiences/);
  const pending = await bed({ audiences: [], clientId: () => ({ kind: 'pending' }) });
  assert.equal(await pending.ask({ headers: bearer(good) }), '503 not_configured identity-pending');
  const other = await bed({ audiences: ['x'], clientId: () => ({ kind: 'pending' }) });
  assert.equal(await other.ask({ headers: bearer(good) }), '401 invalid_token audience');
  assert.equal(await other.ask({ headers: bearer('abc') }), '401 invalid_token malformed');
});

test('an open path is not open to a WebSocket', async () => {
  const { ask } = await bed();
  assert.equal(await ask({ path: '/healthz', headers: { upgrade: 'websocket' } }), '401 missing_token no-token');
  assert.equal(await ask({ path: '/healthz' }), 'bypass');
});

test('where mutual TLS is required, plain HTTP gets open paths alone', async () => {
  const { ask } = await bed({ isMtlsRequired: true });
  assert.equal(await ask({ headers: bearer(good) }), '403 mtls_required mtls-required');
  assert.equal(await ask({ path: '/healthz' }), 'bypass');
  assert.equal(await ask({ headers: bearer(good), isTls: true }), 'token');
  assert.equal(await ask({ isTls: true }), '401 missing_token no-token');
});

test('a skew beyond five minutes is five minutes', async () => {
  const { ask } = await bed({ skewSeconds: 86_400 });
  const over = (seconds: number) => signed(key, { claims: { exp: now.getTime() / 1000 - seconds } });
  assert.equal(await ask({ headers: bearer(await over(299)) }), 'token');
  assert.equal(await ask({ headers: bearer(await over(300)) }), '401 invalid_token expired');
});

test('no answer holds a part of the token', async () => {
  const { decide } = await bed();
  for (const token of [
    await signed(second),
    await signed(key, { claims: { aud: 'secret-audience' } }),
    'opaque-secret',
  ]) {
    const text = JSON.stringify(await decide(head({ headers: bearer(token) }), noSignal));
    for (const part of [...token.split('.'), 'secret']) assert.ok(!text.includes(part), text);
  }
});

test('with a signal that has ended: at once for open paths, missing tokens and verified ones; no other token is looked at', async () => {
  const { decide, ask, client, metrics } = await bed();
  assert.equal(await ask({ headers: bearer(good) }), 'token');
  const fetches = client.asked.length;
  const rows: readonly (readonly [wish: HeadWish, reason: string])[] = [
    [{ path: '/healthz' }, 'bypass'],
    [{}, 'no-token'],
    [{ headers: bearer(good) }, 'token'],
  ];
  for (const [wish, reason] of rows) {
    const decision = decide(head(wish), AbortSignal.abort());
    assert.ok(!(decision instanceof Promise), reason);
    assert.equal(decision.reason, reason);
  }
  await assert.rejects(async () => decide(head({ headers: bearer(await signed(second)) }), AbortSignal.abort()));
  assert.equal(client.asked.length, fetches);
  assert.match(await metrics.text(), /token_verifications_total\{result="verified"\} 1\n/);
  assert.doesNotMatch(await metrics.text(), /token_verifications_total\{result="refused"\}/);
});
