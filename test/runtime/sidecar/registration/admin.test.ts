/** Keycloak's admin API: where it is found, and what its answers mean. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '../../../../runtime/encoding/strict-json.ts';
import type { Answer } from '../../../../runtime/sidecar/idp/fetch.ts';
import { clientsUrl, type Got, internalId, jsonOf, secretIn } from '../../../../runtime/sidecar/registration/admin.ts';

const faultOf = (got: Got<unknown>): string => ('fault' in got ? got.fault : '');

const urls: readonly (readonly [tokenUrl: string, clients: string | undefined])[] = [
  ['http://idp:8080/realms/a/protocol/openid-connect/token', 'http://idp:8080/admin/realms/a/clients'],
  ['https://idp/auth/realms/a%20b/protocol/openid-connect/token', 'https://idp/auth/admin/realms/a%20b/clients'],
  ['https://idp/oauth2/token', undefined],
  ['https://idp/realms/a/protocol/openid-connect/token?x', undefined],
  ['', undefined],
];
for (const [tokenUrl, clients] of urls) {
  test(`the clients behind ${tokenUrl === '' ? 'nothing' : tokenUrl}`, () => {
    const got = clientsUrl(tokenUrl);
    if (clients === undefined) assert.match(faultOf(got), /set identity\.url and identity\.realm$/);
    else assert.deepEqual(got, { value: clients });
  });
}

const answer = (status: number, body = ''): Answer => ({
  kind: 'answer',
  status,
  contentType: 'application/json',
  retryAfterSeconds: undefined,
  body: Buffer.from(body),
});

const answers: readonly (readonly [what: string, fault: string | undefined, answer: Parameters<typeof jsonOf>[0]])[] = [
  ['an answer', undefined, answer(200, '[]')],
  ['no body', undefined, answer(200)],
  [
    'no answer',
    'Keycloak refuses connections',
    { kind: 'no-answer', reason: 'unreachable', why: 'refuses connections' },
  ],
  ['no right', 'may not manage clients: give the service account', answer(403, '{"error":"x"}')],
  ['a token that is not taken', 'does not take the token of the admin credentials', answer(401)],
  ['no realm', 'no such realm', answer(404)],
  ['an outage', 'answers with status 502', answer(502, '<html>')],
  ['no JSON', 'answers with no JSON', answer(200, '<html>')],
  ['JSON within JSON', 'answers with no JSON', answer(200, '['.repeat(40) + ']'.repeat(40))],
];
for (const [what, fault, given] of answers) {
  test(`an answer: ${what}`, () => {
    const got = jsonOf(given, [200]);
    if (fault === undefined) assert.ok('value' in got);
    else assert.ok(faultOf(got).includes(fault), faultOf(got));
  });
}

test('a client is found by its very name, and its id is one that may go into a path', () => {
  const list = [{ clientId: 'team1/weather-2', id: 'two' }, { clientId: 'team1/weather', id: 'one' }, 7];
  assert.equal(internalId(list, 'team1/weather'), 'one');
  assert.equal(internalId(list, 'team1/w'), undefined);
  assert.equal(internalId([{ clientId: 'a', id: '../realm' }], 'a'), undefined);
  assert.equal(internalId({ clientId: 'a', id: 'one' }, 'a'), undefined);
});

test('a secret is one line', () => {
  assert.deepEqual(secretIn({ value: 'abc' }), { value: 'abc' });
  const others: readonly Json[] = [
    null,
    {},
    { value: '' },
    { value: 7 },
    { value: 'a\nb' },
    { value: 'x'.repeat(5000) },
  ];
  for (const value of others) {
    assert.match(faultOf(secretIn(value)), /gives no secret for the client/);
  }
});
