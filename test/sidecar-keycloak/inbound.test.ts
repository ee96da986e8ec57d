/** Tokens of a real Keycloak at the door of an agent: good ones, others, rotated keys, and a Keycloak that hangs or is gone. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { inbound, keycloakForFile, makeRealm } from './bed.ts';

const keycloak = await keycloakForFile();
const { admin } = keycloak;

test('a token for the agent is good, one for nobody, for another realm or with another letter is not', async (t) => {
  const realm = await makeRealm(keycloak);
  const other = await makeRealm(keycloak);
  const { ask } = inbound(t, realm);
  const token = await admin.token(realm.name, realm.caller);
  assert.equal(await ask(token), 'token');
  assert.equal(await ask(await admin.token(realm.name, realm.stranger)), '401 invalid_token audience');
  assert.equal(await ask(await admin.token(other.name, other.caller)), '401 invalid_token issuer');
  const at = token.length - 20;
  const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
  assert.equal(await ask(changed), '401 invalid_token signature');
});

test('an ID token of a client that the agent itself is, is no access token', async (t) => {
  const realm = await makeRealm(keycloak);
  const { ask } = inbound(t, realm);
  const form = {
    grant_type: 'client_credentials',
    scope: 'openid',
    client_id: realm.agent.id,
    client_secret: realm.agent.secret,
  };
  const answer = await fetch(realm.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
  const { id_token: idToken } = (await answer.json()) as { readonly id_token?: string };
  assert.ok(idToken !== undefined, 'Keycloak gives an ID token');
  assert.equal(await ask(idToken), '401 invalid_token token-use');
});

test('a token is good to its end and no longer than the skew beyond', async (t) => {
  const realm = await makeRealm(keycloak);
  await admin.createClient(realm.name, { id: 'short', defaultScopes: ['agent-aud'], tokenSeconds: 2 });
  const { secret } = await admin.renewSecret(realm.name, 'short');
  const token = await admin.token(realm.name, { id: 'short', secret });
  const strict = inbound(t, realm, { skewSeconds: 0 });
  const usual = inbound(t, realm);
  assert.equal(await strict.ask(token), 'token');
  await sleep(3_000);
  assert.equal(await strict.ask(token), '401 invalid_token expired');
  assert.equal(await usual.ask(token), 'token');
});

test('after a rotation of the keys the first new token is good, and the old ones are not', async (t) => {
  const realm = await makeRealm(keycloak);
  const { ask } = inbound(t, realm);
  const before = await admin.token(realm.name, realm.caller);
  assert.equal(await ask(before), 'token');
  await admin.rotateKeys(realm.name);
  assert.equal(await ask(await admin.token(realm.name, realm.caller)), 'token');
  assert.equal(await ask(before), '401 invalid_token key-unknown');
});

test('the issuer is compared and never asked: keys may come from another address', async (t) => {
  const realm = await makeRealm(keycloak);
  const inside = realm.jwksUrl.replace('127.0.0.1', 'localhost');
  const { ask } = inbound(t, { ...realm, jwksUrl: inside });
  assert.equal(await ask(await admin.token(realm.name, realm.caller)), 'token');
  const wrong = inbound(t, { ...realm, jwksUrl: `${realm.issuer}/nothing-here` });
  assert.equal(await wrong.ask(await admin.token(realm.name, realm.caller)), '503 keys_unavailable keys-unavailable');
  assert.match(wrong.keeper.outage() ?? '', /nothing-here answers with status 404/);
});

test('a Keycloak that hangs, then is gone: keys from before serve to their bound, then 503', async (t) => {
  const realm = await makeRealm(keycloak);
  const short = { refreshMs: 300, timeoutMs: 500, maxAgeMs: 6_000, coolDownMs: 0 };
  const { ask, keeper } = inbound(t, realm, short);
  const [first, second] = [await admin.token(realm.name, realm.caller), await admin.token(realm.name, realm.caller)];
  assert.equal(await ask(first), 'token');

  keycloak.freeze();
  const frozenAt = performance.now();
  await sleep(1_500);
  assert.match(keeper.degraded() ?? '', /does not answer within 0\.5 s/);
  assert.equal(await ask(first), 'token');
  assert.equal(await ask(second), 'token', 'also one that was not seen before');
  keycloak.thaw();

  await keycloak.stop();
  await sleep(Math.max(0, 6_500 - (performance.now() - frozenAt)));
  while (keeper.outage() === undefined && performance.now() - frozenAt < 30_000) await sleep(100);
  assert.equal(await ask(first), '503 keys_unavailable keys-unavailable');
  assert.match(keeper.outage() ?? '', /refuses connections/);
});
