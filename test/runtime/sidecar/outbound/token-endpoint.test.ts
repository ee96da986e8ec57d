/** What is sent to the token endpoint, and what each of its answers means. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { tokenRequest, type ClientAuth } from '../../../../runtime/sidecar/outbound/token-request.ts';
import { type TokenOutcome, tokenOutcome } from '../../../../runtime/sidecar/outbound/token-response.ts';
import type { Answer, NoAnswer } from '../../../../runtime/sidecar/idp/fetch.ts';
import { answer, json, refusesConnections } from '../idp/scripted-idp.ts';
import { callersToken, nowSeconds, tokenWith, wishFor } from './fixtures.ts';

const wish = wishFor('tool-x');
const ownWish = { ...wish, subject: undefined };
const fields = (request: { readonly body: string }) => Object.fromEntries(new URLSearchParams(request.body));
const basic: ClientAuth = { method: 'client_secret_basic', id: 'agent-a', secret: 's' };

test('an exchange as RFC 8693 has it', () => {
  const request = tokenRequest(wish, basic);
  assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.deepEqual(fields(request), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: callersToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    audience: 'tool-x',
    scope: 'tool-aud',
  });
});

test('client credentials, and nothing that was not asked for', () => {
  const request = tokenRequest({ ...ownWish, audience: '', scopes: [] }, basic);
  assert.deepEqual(fields(request), { grant_type: 'client_credentials' });
});

test('the header Basic with names that hold its own separator', () => {
  const id = 'spiffe://example.org/ns/team1/sa/agent a';
  const { headers, body } = tokenRequest(ownWish, { method: 'client_secret_basic', id, secret: 'a:b%' });
  const [, encoded = ''] = headers['authorization']?.split(' ') ?? [];
  assert.equal(
    Buffer.from(encoded, 'base64').toString(),
    'spiffe%3A%2F%2Fexample.org%2Fns%2Fteam1%2Fsa%2Fagent+a:a%3Ab%25',
  );
  assert.ok(!body.includes('client_id') && !body.includes('client_secret'));
});

test('a JWT-SVID in place of a secret, with no client id beside it', () => {
  const request = tokenRequest(ownWish, { method: 'jwt-spiffe', assertion: 'a.b.c' });
  assert.equal(fields(request)['client_assertion_type'], 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe');
  assert.equal(fields(request)['client_assertion'], 'a.b.c');
  assert.equal(fields(request)['client_id'], undefined);
});

const good = {
  access_token: 'new-token',
  token_type: 'Bearer',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  expires_in: 300,
};
const outcomeOf = (said: Answer | NoAnswer, of = wish): TokenOutcome => tokenOutcome(of, said, nowSeconds);
const short = (outcome: TokenOutcome): string =>
  'status' in outcome
    ? `${outcome.status} ${outcome.code}`
    : 'code' in outcome
      ? `${outcome.kind} ${outcome.code}`
      : outcome.kind;

test('a token, and for how long', () => {
  assert.deepEqual(outcomeOf(json(good)), { kind: 'token', token: 'new-token', lifeSeconds: 300 });
  assert.deepEqual(outcomeOf(json({ ...good, token_type: 'bearer' })).kind, 'token');
  const life = (body: object) => (outcomeOf(json(body)) as { readonly lifeSeconds?: number }).lifeSeconds;
  assert.equal(life({ ...good, expires_in: undefined }), undefined);
  assert.equal(life({ ...good, access_token: tokenWith({ exp: nowSeconds + 60 }) }), 60);
  assert.equal(life({ ...good, access_token: tokenWith({ exp: nowSeconds + 900 }) }), 300);
  assert.equal(life({ ...good, expires_in: -5 }), 0);
  assert.equal(outcomeOf(json({ ...good, issued_token_type: undefined }), ownWish).kind, 'token');
});

const nonsense: readonly (readonly [what: string, said: Answer | NoAnswer])[] = [
  ['no answer', refusesConnections],
  ['a page', answer('<html>', 200)],
  ['a list', json([])],
  ['an empty token', json({ ...good, access_token: '' })],
  ['a token that ends a header', json({ ...good, access_token: 'a\r\nx-evil: 1' })],
  ['a token of another type', json({ ...good, token_type: 'N_A' })],
  ['no type', json({ ...good, token_type: undefined })],
  ['a refresh token', json({ ...good, issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' })],
  ['no issued type', json({ ...good, issued_token_type: undefined })],
  ['an error of its own', answer('oops', 500)],
  ['a gateway in between', answer('<html>', 502)],
  ['too many requests', answer('', 429)],
];

for (const [what, said] of nonsense) {
  test(`${what} is an outage`, () => assert.equal(outcomeOf(said).kind, 'unavailable'));
}

const error = (status: number, code: unknown, description = '') =>
  json({ error: code, error_description: description }, status);

const rows: readonly (readonly [what: string, said: Answer, expected: string, own?: string])[] = [
  ['a caller that is not known', error(400, 'invalid_request', 'Invalid token'), '401 invalid_request'],
  ['a caller whose grant is over', error(400, 'invalid_grant'), '401 invalid_grant'],
  [
    'a caller whose token is not for the agent',
    error(403, 'access_denied', 'Client is not within the token audience'),
    '403 access_denied',
  ],
  ['a code nobody knows', error(400, 'consent_required'), '403 consent_required'],
  [
    'an audience out of reach',
    error(400, 'invalid_request', 'Requested audience not available: tool-x'),
    'misconfigured invalid_request',
  ],
  [
    'an audience that does not exist',
    error(400, 'invalid_client', 'Audience not found'),
    'misconfigured invalid_client',
  ],
  ['a target that is refused', error(400, 'invalid_target'), 'misconfigured invalid_target'],
  ['a scope that is refused', error(400, 'invalid_scope'), 'misconfigured invalid_scope'],
  [
    'an exchange that is off',
    error(400, 'invalid_request', 'Standard token exchange is not enabled for the requested client'),
    'misconfigured invalid_request',
  ],
  ['a secret that is wrong', error(401, 'unauthorized_client'), 'misconfigured unauthorized_client'],
  ['a client that is not known', error(401, 'invalid_client'), 'misconfigured invalid_client'],
  ['a grant that is not known', error(400, 'unsupported_grant_type'), 'misconfigured unsupported_grant_type'],
  ['another address', answer('not here', 404), 'misconfigured '],
  ['a redirect', answer('', 302), 'misconfigured '],
  ['a code that is none', error(400, 'x'.repeat(65)), 'misconfigured '],
  ['a code with markup', error(400, '<b>'), 'misconfigured '],
  ['a code that is no text', error(400, { a: 1 }), 'misconfigured '],
];

for (const [what, said, expected] of rows) {
  test(`${what}: ${expected}`, () => {
    assert.equal(short(outcomeOf(said)), expected);
    assert.match(short(outcomeOf(said, ownWish)), /^misconfigured /);
  });
}

test('what is misconfigured is named', () => {
  const told = (said: Answer) => (outcomeOf(said) as { readonly description: string }).description;
  assert.match(told(error(400, 'invalid_target')), /"tool-x".*tokenExchange\.audience/);
  assert.match(told(error(400, 'invalid_scope')), /"tool-aud".*tokenExchange\.scopes/);
  assert.match(told(error(401, 'invalid_client')), /client-secret\.txt/);
  assert.match(told(answer('', 404)), /TOKEN_URL/);
});

test("the issuer's own words are in no outcome", () => {
  const outcomes = ['invalid_grant', 'invalid_scope', 'invalid_client', 'access_denied', '?'].flatMap((code) =>
    [400, 401, 403, 500].map((status) => outcomeOf(error(status, code, 'the secret is hunter2'))),
  );
  assert.ok(!JSON.stringify(outcomes).includes('hunter2'));
});

test('no answer throws', () => {
  const body = fc.oneof(fc.json(), fc.string()).map((text) => Buffer.from(text));
  fc.assert(
    fc.property(body, fc.constantFrom(200, 204, 302, 400, 401, 403, 404, 429, 500), (bytes, status) => {
      assert.ok(typeof outcomeOf(answer(bytes, status)).kind === 'string');
    }),
  );
});
