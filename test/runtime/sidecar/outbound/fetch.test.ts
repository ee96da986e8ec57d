/** Conversations with a token endpoint that comes and goes. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createLog } from '../../../../runtime/engine/log.ts';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import { createTokenFetcher, type TokenFetcherOptions } from '../../../../runtime/sidecar/outbound/fetch.ts';
import { createCircuit } from '../../../../runtime/sidecar/outbound/circuit.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { answer, json, refusesConnections, type Said, scriptedIdp } from '../idp/scripted-idp.ts';
import { callersToken, now, wishFor } from './fixtures.ts';

const secret = 'the-secret-of-the-agent';
const granted = json({
  access_token: 'new-token',
  token_type: 'Bearer',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  expires_in: 300,
});

function bed(said: Said, options: Partial<TokenFetcherOptions> = {}) {
  const client = scriptedIdp(said);
  const clock = fakeClock(now);
  const lines: string[] = [];
  const metrics = createMetrics({ process: false });
  const fetchToken = createTokenFetcher({
    client,
    clock,
    metrics,
    log: createLog({ level: 'debug', name: 'test', write: (line) => lines.push(line) }),
    auth: () => ({ method: 'client_secret_basic', id: 'agent-a', secret }),
    tokenUrl: 'https://idp.example/token',
    ...options,
  });
  /** The outcome, time passing as far as it takes. */
  const outcome = async (audience = 'tool-x') => {
    const fetching = fetchToken(wishFor(audience));
    await clock.advance(300);
    return fetching;
  };
  return { outcome, client, clock, lines, metrics };
}

const gone = answer('<html>', 503);

test('one retry where it may help, within a moment', async () => {
  for (const first of [refusesConnections, answer('', 502), gone, answer('', 504)]) {
    const { outcome, client } = bed(first);
    let calls = 0;
    client.say(() => ((calls += 1) === 1 ? first : granted));
    assert.equal((await outcome()).kind, 'token');
    assert.equal(calls, 2);
  }
});

test('none where it cannot: a refusal, an error of the server, a server that is slow', async () => {
  const slow: Said = { kind: 'no-answer', reason: 'timeout', why: 'does not answer within 5 s' };
  for (const said of [json({ error: 'invalid_grant' }, 400), answer('', 500), slow, answer('', 429)]) {
    const { outcome, client } = bed(said);
    assert.notEqual((await outcome()).kind, 'token');
    assert.equal(client.asked.length, 1);
  }
});

test('while it fails it is left alone but for one that tries, ever more rarely', async () => {
  const { outcome, client, clock } = bed(gone);
  await outcome();
  assert.equal(client.asked.length, 2);
  for (let i = 0; i < 100; i++) assert.equal((await outcome(`other-${i % 7}`)).kind, 'unavailable');
  const after30s = client.asked.length;
  assert.ok(after30s >= 4 && after30s <= 10, `${after30s} questions in half a minute`);
  client.say(granted);
  await clock.advance(15_000);
  assert.equal((await outcome()).kind, 'token');
  assert.equal((await outcome('tool-y')).kind, 'token');
});

test('it says when to come back, and heeds what the server asks for', async () => {
  const { outcome, clock, client } = bed(answer('', 429, { retryAfterSeconds: 10 }));
  const first = await outcome();
  assert.ok(first.kind === 'unavailable' && first.retryAfterSeconds === 10);
  await clock.advance(5_000);
  const next = await outcome();
  assert.ok(next.kind === 'unavailable' && next.retryAfterSeconds === 5, JSON.stringify(next));
  assert.equal(client.asked.length, 1);
});

test('refusals and misconfiguration close no circuit, nor do credentials that are not there', async () => {
  let isThere = false;
  const auth = () =>
    isThere ? ({ method: 'jwt-spiffe', assertion: 'a.b.c' } as const) : { missing: 'no identity yet' };
  const { outcome, client } = bed(json({ error: 'invalid_grant' }, 400), { auth });
  assert.deepEqual(await outcome(), { kind: 'unavailable', description: 'no identity yet', retryAfterSeconds: 5 });
  assert.equal(client.asked.length, 0);
  isThere = true;
  for (let i = 0; i < 3; i++) assert.equal((await outcome()).kind, 'refused');
  client.say(granted);
  assert.equal((await outcome()).kind, 'token');
});

test('credentials that fail to come are missing, not a failure', async () => {
  const { outcome } = bed(granted, { auth: () => Promise.reject(new Error('boom')) });
  assert.equal((await outcome()).kind, 'unavailable');
});

test('a route has a token URL of its own', async () => {
  const { client } = bed(granted);
  const clock = fakeClock(now);
  const fetchToken = createTokenFetcher({
    client,
    clock,
    metrics: createMetrics({ process: false }),
    log: createLog({ level: 'silent', name: 'test' }),
    auth: () => ({ method: 'client_secret_basic', id: 'a', secret }),
    tokenUrl: 'https://idp.example/token',
  });
  await fetchToken({ ...wishFor('x'), tokenUrl: 'https://other.example/token' });
  assert.equal(client.asked[0]?.url, 'https://other.example/token');
});

test('the log says what failed and why, and no token and no secret; metrics count', async () => {
  const { outcome, lines, metrics, client } = bed(
    json({ error: 'invalid_scope', error_description: callersToken }, 400),
  );
  await outcome();
  client.say(gone);
  await outcome('tool-y');
  const text = lines.join('');
  assert.match(text, /no token for a call of the agent/);
  assert.match(text, /tokenExchange\.scopes/);
  for (const part of [secret, callersToken, ...callersToken.split('.')]) assert.ok(!text.includes(part), text);
  assert.match(await metrics.text(), /rossoctl_sidecar_token_fetches_total\{result="misconfigured"\} 1/);
});

test('the circuit: who is let through after a pause tries for all', () => {
  const circuit = createCircuit({ baseMs: 1_000, capMs: 4_000, trialMs: 500 });
  assert.equal(circuit.waitMs('a', 0), 0);
  circuit.failed('a', 0);
  assert.equal(circuit.waitMs('a', 400), 600);
  assert.equal(circuit.waitMs('b', 400), 0);
  assert.equal(circuit.waitMs('a', 1_000), 0);
  assert.equal(circuit.waitMs('a', 1_000), 500);
  circuit.failed('a', 1_200);
  assert.equal(circuit.waitMs('a', 1_200), 2_000);
  for (let i = 0; i < 50; i++) circuit.failed('a', 1_200);
  assert.equal(circuit.waitMs('a', 1_200), 4_000);
  circuit.succeeded('a');
  assert.equal(circuit.waitMs('a', 1_200), 0);
});
