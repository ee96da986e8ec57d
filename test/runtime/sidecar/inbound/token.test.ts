/** Tokens that are good here, and every way not to be. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { SignJWT } from 'jose';
import { readKeySet } from '../../../../runtime/sidecar/inbound/jwks.ts';
import { type KeyFor, type TokenFault, verifyToken } from '../../../../runtime/sidecar/inbound/token.ts';
import {
  goodClaims,
  issuer,
  jwksOf,
  now,
  nowSeconds,
  signed,
  type TestAlgorithm,
  type TestKey,
  testKey,
  type TokenWish,
} from './fixtures.ts';

const key = await testKey('k1');
const other = await testKey('k1');
const expectations = { issuer, audiences: ['agent-a', 'urn:b'], skewSeconds: 30 };

function keysOf(...keys: readonly TestKey[]): KeyFor {
  const read = readKeySet(jwksOf(...keys));
  if ('problem' in read) throw new Error(read.problem);
  return read.keys.keyFor;
}

async function faultOf(token: string, keyFor = keysOf(key)): Promise<TokenFault | 'valid'> {
  const verdict = await verifyToken(token, keyFor, expectations, now);
  return verdict.kind === 'valid' ? 'valid' : verdict.fault;
}

const rows: readonly (readonly [what: string, wish: TokenWish, expected: TokenFault | 'valid'])[] = [
  ['as the issuer makes them', {}, 'valid'],
  ['one audience as text', { claims: { aud: 'urn:b' } }, 'valid'],
  ['typ at+jwt (RFC 9068)', { header: { typ: 'at+JWT' } }, 'valid'],
  ['typ application/at+jwt', { header: { typ: 'application/at+jwt' } }, 'valid'],
  ['no typ', { header: { typ: undefined } }, 'valid'],
  ['expired within the skew', { claims: { exp: nowSeconds - 29 } }, 'valid'],
  ['issued ahead within the skew', { claims: { iat: nowSeconds + 30, nbf: nowSeconds + 30 } }, 'valid'],
  ['without iat', { claims: { iat: undefined } }, 'valid'],
  ['another issuer', { claims: { iss: `${issuer}/` } }, 'issuer'],
  ['no issuer', { claims: { iss: undefined } }, 'claims'],
  ['another audience', { claims: { aud: ['agent-b'] } }, 'audience'],
  ['an audience that begins like ours', { claims: { aud: 'agent-a2' } }, 'audience'],
  ['no audience', { claims: { aud: undefined } }, 'audience'],
  ['an audience that is no text', { claims: { aud: ['agent-a', 7] } }, 'audience'],
  ['expired', { claims: { exp: nowSeconds - 30 } }, 'expired'],
  ['without end', { claims: { exp: undefined } }, 'claims'],
  ['an end in words', { claims: { exp: 'tomorrow' } }, 'claims'],
  ['not valid yet', { claims: { nbf: nowSeconds + 31 } }, 'not-yet-valid'],
  ['issued in the future', { claims: { iat: nowSeconds + 31 } }, 'not-yet-valid'],
  ['nbf in words', { claims: { nbf: 'now' } }, 'claims'],
  ['an ID token, as Keycloak says', { claims: { typ: 'ID' } }, 'token-use'],
  ['a refresh token', { claims: { typ: 'Refresh' } }, 'token-use'],
  ['an ID token by its hash', { claims: { at_hash: 'x' } }, 'token-use'],
  ['bound to a key (RFC 7800)', { claims: { cnf: { jkt: 'x' } } }, 'bound'],
  ['a logout token', { header: { typ: 'logout+jwt' } }, 'type'],
  ['a DPoP proof', { header: { typ: 'dpop+jwt' } }, 'type'],
  ['an unknown key', { header: { kid: 'k2' } }, 'key-unknown'],
];

for (const [what, wish, expected] of rows) {
  test(`token ${what}: ${expected}`, async () => assert.equal(await faultOf(await signed(key, wish)), expected));
}

for (const alg of ['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'] satisfies readonly TestAlgorithm[]) {
  test(`${alg} is taken`, async () => {
    const mine = await testKey('a', alg);
    assert.equal(await faultOf(await signed(mine), keysOf(key, mine)), 'valid');
  });
}

test('a token signed by another key of the same name', async () => {
  assert.equal(await faultOf(await signed(other)), 'signature');
});

test('a token whose claims were changed after it was signed', async () => {
  const [header = '', , signature = ''] = (await signed(key)).split('.');
  const claims = Buffer.from(JSON.stringify({ ...goodClaims, sub: 'admin' })).toString('base64url');
  assert.equal(await faultOf(`${header}.${claims}.${signature}`), 'signature');
});

test('alg none and shared secrets, also with the public key as the secret', async () => {
  const unsigned = (alg: string) =>
    [{ alg, typ: 'JWT' }, goodClaims].map((it) => Buffer.from(JSON.stringify(it)).toString('base64url')).join('.');
  for (const alg of ['none', 'None', 'nOnE']) assert.equal(await faultOf(`${unsigned(alg)}.`), 'algorithm');
  const secret = Buffer.from(JSON.stringify(key.jwk).padEnd(64));
  const confused = await new SignJWT(goodClaims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret);
  assert.equal(await faultOf(confused), 'algorithm');
});

test('a key that the token brings along counts for nothing', async () => {
  const token = await new SignJWT(goodClaims)
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', jwk: { kty: 'EC', crv: 'P-256', x: other.jwk.x, y: other.jwk.y } })
    .sign(other.privateKey);
  assert.equal(await faultOf(token), 'signature');
});

test('an extension that must be understood and is not', async () => {
  const token = await new SignJWT(goodClaims)
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', crit: ['x'], x: 1 })
    .sign(key.privateKey, { crit: { x: true } });
  assert.equal(await faultOf(token), 'malformed');
});

test('an unknown key is told before what only its holder may know, and an end that is over before the key', async () => {
  assert.equal(await faultOf(await signed(key, { header: { kid: 'k2' }, claims: { aud: 'agent-b' } })), 'key-unknown');
  assert.equal(
    await faultOf(await signed(key, { header: { kid: 'k2' }, claims: { exp: nowSeconds - 999 } })),
    'expired',
  );
});

test('the verdict lasts until the end of the token, skew included', async () => {
  const verdict = await verifyToken(await signed(key), keysOf(key), expectations, now);
  assert.equal(verdict.kind === 'valid' && verdict.untilMs, (goodClaims.exp + 30) * 1000);
});

test('no text is valid that was not signed, and none throws', async () => {
  const good = await signed(key);
  const position = fc.nat({ max: good.length - 1 });
  const letter = fc.constantFrom('A', 'b', '0', '9', '-', '_', '.', '=');
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.tuple(position, letter)), async (change) => {
      const text =
        typeof change === 'string' ? change : good.slice(0, change[0]) + change[1] + good.slice(change[0] + 1);
      if (text !== good) assert.notEqual(await faultOf(text), 'valid');
    }),
    { numRuns: 300 },
  );
});

const problems: readonly (readonly [what: string, body: string, expected: RegExp])[] = [
  ['a page', '<html>', /is no JSON/],
  ['another document', '{"issuer":"x"}', /no list "keys"/],
  ['an empty set', '{"keys":[]}', /no key that can check/],
  ['keys for encryption', JSON.stringify({ keys: [{ ...key.jwk, use: 'enc' }] }), /among its 1/],
  ['shared secrets', '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}', /no key/],
  ['short RSA keys', '{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}', /no key/],
  ['what is no key', '{"keys":[1,"x",null]}', /no key/],
];

for (const [what, body, expected] of problems) {
  test(`keys: ${what} instead`, () => {
    const read = readKeySet(Buffer.from(body));
    assert.match('problem' in read ? read.problem : 'taken', expected);
  });
}

test('a key that is not understood is no fault of the others', async () => {
  const odd = { kty: 'EC', crv: 'P-999', kid: 'odd', x: 'AA', y: 'AA' };
  const read = readKeySet(Buffer.from(JSON.stringify({ keys: [odd, key.jwk, { kty: 'AKP' }] })));
  assert.ok('keys' in read);
  assert.equal(await faultOf(await signed(key), read.keys.keyFor), 'valid');
  assert.equal(await faultOf(await signed(key, { header: { kid: 'odd' } }), read.keys.keyFor), 'key-unknown');
});
