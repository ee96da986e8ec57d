/** Tokens made by a real Keycloak for the agent's own calls: exchanged, its own, refused, misconfigured, and a Keycloak that is gone. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { bearer, keycloakForFile, makeRealm, outbound, sentClaims } from './bed.ts';

const keycloak = await keycloakForFile();
const { admin } = keycloak;

const toToolX = { audience: 'tool-x', scopes: ['tool-aud'] };

test("a caller's token becomes one for the tool alone, which still says who the caller is", async (t) => {
  const realm = await makeRealm(keycloak);
  const { decision, metrics } = outbound(t, realm, { route: toToolX });
  const callers = await admin.token(realm.name, realm.caller);
  const before = sentClaims({ kind: 'pass', reason: '', set: bearer(callers) });
  const claims = sentClaims(await decision(bearer(callers)));
  assert.equal(claims['aud'], 'tool-x');
  assert.equal(claims['sub'], before['sub']);
  assert.equal(claims['azp'], 'agent-a');
  await decision(bearer(callers));
  assert.match(await metrics.text(), /rossoctl_sidecar_token_cache_total\{result="hit"\} 1/);
  assert.match(await metrics.text(), /rossoctl_sidecar_token_fetches_total\{result="token"\} 1/);
});

test("the agent's own token", async (t) => {
  const realm = await makeRealm(keycloak);
  const route = { scopes: ['tool-aud'], noToken: 'client-credentials' };
  const { decision } = outbound(t, realm, { route });
  const claims = sentClaims(await decision({}));
  assert.equal(claims['azp'], 'agent-a');
  assert.ok([claims['aud']].flat().includes('tool-x'));
});

test('a client that is called by its SPIFFE ID proves itself by the header Basic', async (t) => {
  const realm = await makeRealm(keycloak);
  const id = 'spiffe://cluster.local/ns/team1/sa/agent';
  const own = await admin.createClient(realm.name, { id, optionalScopes: ['tool-aud'] });
  const route = { scopes: ['tool-aud'], noToken: 'client-credentials' };
  const { decision } = outbound(t, realm, { route, auth: () => ({ method: 'client_secret_basic', ...own }) });
  assert.equal(sentClaims(await decision({}))['azp'], id);
});

test('what Keycloak refuses, and why, each in its own way', async (t) => {
  const realm = await makeRealm(keycloak);
  const token = await admin.token(realm.name, realm.caller);
  const others = await admin.token(realm.name, realm.stranger);
  const [header = '', payload = ''] = token.split('.');
  const rows: readonly (readonly [what: string, route: object, token: string, expected: RegExp])[] = [
    ['scopes alone', { scopes: ['tool-aud'] }, token, /^exchange$/],
    ['a signature that is wrong', toToolX, `${header}.${payload}.AAAA`, /^401 invalid_token refused$/],
    ['a token that is not for the agent', toToolX, others, /^403 access_denied forbidden$/],
    ['an audience out of reach', { audience: 'tool-y' }, token, /^503 not_configured misconfigured$/],
    ['an audience that does not exist', { audience: 'nobody' }, token, /^503 not_configured misconfigured$/],
    ['a scope that does not exist', { scopes: ['nonsense'] }, token, /^503 not_configured misconfigured$/],
    ['another token URL', { ...toToolX, tokenUrl: `${realm.issuer}/nothing-here` }, token, /^503 not_configured/],
  ];
  for (const [what, route, subject, expected] of rows) {
    assert.match(await outbound(t, realm, { route }).ask(subject), expected, what);
  }
});

test('what is misconfigured is named, and the secret is not', async (t) => {
  const realm = await makeRealm(keycloak);
  const token = await admin.token(realm.name, realm.caller);
  const description = async (wish: Parameters<typeof outbound>[2]) => {
    const decision = await outbound(t, realm, wish).decision(bearer(token));
    assert.ok(decision.kind === 'refuse' && decision.status === 503, JSON.stringify(decision));
    return decision.description;
  };
  assert.match(await description({ route: { audience: 'tool-y' } }), /"tool-y".*scopes.*\(invalid_request\)/);
  assert.match(await description({ route: { audience: 'nobody' } }), /"nobody".*\(invalid_client\)/);
  assert.match(await description({ route: { scopes: ['nonsense'] } }), /"nonsense".*\(invalid_scope\)/);
  const wrong = { method: 'client_secret_basic', id: 'agent-a', secret: 'not-the-secret' } as const;
  const told = await description({ route: toToolX, auth: () => wrong });
  assert.match(told, /client-secret\.txt/);
  assert.ok(!told.includes('not-the-secret'));
  const unable = { method: 'client_secret_basic', ...realm.caller } as const;
  assert.match(await description({ route: toToolX, auth: () => unable }), /turn on token exchange/);
});

test('a renewed secret counts from the next fetch on', async (t) => {
  const realm = await makeRealm(keycloak);
  let own = realm.agent;
  const wish = { route: toToolX, auth: () => ({ method: 'client_secret_basic', ...own }) as const };
  const { ask } = outbound(t, realm, wish);
  own = await admin.renewSecret(realm.name, 'agent-a');
  assert.equal(await ask(await admin.token(realm.name, realm.caller)), 'exchange');
});

test('a Keycloak that hangs or is gone: 503 in time, at once for those after, and tokens held before still go', async (t) => {
  const realm = await makeRealm(keycloak);
  const held = outbound(t, realm, { route: toToolX, timeoutMs: 800, deadlineMs: 1_500 });
  const [first, second] = [await admin.token(realm.name, realm.caller), await admin.token(realm.name, realm.caller)];
  assert.equal(await held.ask(first), 'exchange');

  keycloak.freeze();
  const begun = performance.now();
  const crowd = await Promise.all(Array.from({ length: 50 }, () => held.ask(second)));
  assert.ok(performance.now() - begun < 3_000);
  assert.deepEqual(new Set(crowd), new Set(['503 idp_unavailable unavailable']));
  const again = performance.now();
  assert.equal(await held.ask(second), '503 idp_unavailable unavailable');
  assert.ok(performance.now() - again < 300);
  assert.equal(await held.ask(first), 'exchange');
  keycloak.thaw();

  const until = performance.now() + 30_000;
  while ((await held.ask(second)) !== 'exchange' && performance.now() < until)
    await new Promise((done) => setTimeout(done, 200));
  assert.equal(await held.ask(second), 'exchange', 'it recovers by itself');

  await keycloak.stop();
  const gone = await outbound(t, realm, { route: toToolX }).decision(bearer(second));
  assert.ok(gone.kind === 'refuse' && gone.status === 503);
  assert.match(gone.description, /refuses connections/);
  assert.equal(gone.headers?.['retry-after'], '5');
  assert.equal(await held.ask(first), 'exchange');
});
