/** What `docs/security.md` says that the rules do and do not look at, where no other test says it. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createLog } from '../../../runtime/engine/log.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { createBypass } from '../../../runtime/sidecar/inbound/bypass.ts';
import { createInbound } from '../../../runtime/sidecar/inbound/decide.ts';
import { createKeeper } from '../../../runtime/sidecar/inbound/keeper.ts';
import { createVerified } from '../../../runtime/sidecar/inbound/verified.ts';
import { createOutbound } from '../../../runtime/sidecar/outbound/decide.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { answer, scriptedIdp } from './idp/scripted-idp.ts';
import { bearer, head, type HeadWish, issuer, jwksOf, now, signed, testKey } from './inbound/fixtures.ts';
import { call, callersToken } from './outbound/fixtures.ts';

const key = await testKey('k1');
const noSignal = new AbortController().signal;

/** The answer of an agent with the audience `agent-a`. */
async function asked(wish: HeadWish): Promise<string> {
  const clock = fakeClock(now);
  const metrics = createMetrics({ process: false });
  const log = createLog({ level: 'silent', name: 'test' });
  const client = scriptedIdp(answer(jwksOf(key)));
  const keeper = createKeeper({ url: 'https://idp.example/certs', client, clock, metrics, log });
  keeper.start();
  const decide = createInbound({
    issuer,
    audiences: ['agent-a'],
    clientId: () => ({ kind: 'none' }),
    bypass: createBypass([], []),
    keeper,
    verified: createVerified(),
    clock,
    metrics,
    isMtlsRequired: false,
  });
  const decision = await decide(head(wish), noSignal);
  keeper.stop();
  return decision.kind === 'pass' ? decision.reason : `${decision.status} ${decision.reason}`;
}

test('a certificate is no token', async () => {
  const peer = { isTls: true, peer: 'spiffe://cluster.local/ns/team1/sa/caller' };
  assert.equal(await asked(peer), '401 no-token');
  assert.equal(await asked({ ...peer, headers: bearer(await signed(key)) }), 'token');
});

test('whoever the issuer gives a token for the agent is let in: scope, client and subject decide nothing', async () => {
  for (const claims of [
    { scope: '', azp: 'nobody-knows', sub: 'user-2', realm_access: { roles: [] } },
    { scope: undefined, azp: undefined, sub: undefined },
  ]) {
    assert.equal(await asked({ headers: bearer(await signed(key, { claims })) }), 'token');
  }
});

test('a token that is bound to a key is refused, not taken without its proof', async () => {
  const claims = { cnf: { jkt: 'thumbprint' } };
  assert.equal(await asked({ headers: bearer(await signed(key, { claims })) }), '401 bound');
});

test('a token outside of Authorization is not seen', async () => {
  const untouched = () => assert.fail('neither a token nor an address is asked for');
  const decide = createOutbound({
    issuer,
    routes: [],
    fallback: undefined,
    tokenFor: untouched,
    placeOf: untouched,
    mtls: { mode: 'disabled', unavailable: () => undefined },
    clock: fakeClock(now),
  });
  const wishes: readonly HeadWish[] = [
    { headers: { 'x-token': callersToken } },
    { headers: { cookie: `session=${callersToken}` } },
    { path: `/?access_token=${callersToken}` },
  ];
  for (const wish of wishes)
    assert.deepEqual(await decide(call({ ...wish, authority: 'example.com' }), noSignal), {
      kind: 'pass',
      reason: 'no-route',
    });
  const seen = await decide(call({ headers: bearer(callersToken), authority: 'example.com' }), noSignal);
  assert.equal(seen.reason, 'no-route');
  assert.equal(seen.kind, 'refuse');
});
