import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readJwtSvid } from '../../../../runtime/sidecar/spiffe/jwt-svid.ts';
import { bytesOf } from '../../../../runtime/sidecar/wire/registry.ts';
import { id, jwtResponse, tokenOf } from './answers.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const exp = now / 1000 + 300;
const asked = { audiences: ['keycloak'], spiffeId: id, now };

test('a token for the audience asked for is read, with its end', () => {
  const claims = { sub: id, aud: ['keycloak', 'other'], exp, iat: exp - 300 };
  assert.deepEqual(readJwtSvid(jwtResponse(claims), asked), {
    token: tokenOf(claims),
    spiffeId: id,
    expires: exp * 1000,
  });
  const single = { sub: id, aud: 'keycloak', exp };
  assert.equal(typeof readJwtSvid(jwtResponse(single), asked), 'object');
});

const good = { sub: id, aud: ['keycloak'], exp };
const one = (svid: string) => bytesOf('JWTSVIDResponse', { svids: [{ spiffeId: id, svid }] });
const refused: readonly (readonly [what: string, bytes: Uint8Array, says: RegExp])[] = [
  ['no message', Buffer.from([0xff]), /holds no JWT-SVID/],
  ['no token', bytesOf('JWTSVIDResponse', {}), /holds no JWT-SVID/],
  ['an empty token', one(''), /cannot be read/],
  ['two parts', one(tokenOf(good).split('.').slice(0, 2).join('.')), /cannot be read/],
  ['four parts', one(`${tokenOf(good)}.more`), /cannot be read/],
  ['claims that are no object', jwtResponse([1]), /cannot be read/],
  ['the token of another identity', jwtResponse(good, `${id}2`), /not for spiffe:/],
  ['another subject', jwtResponse({ ...good, sub: `${id}2` }), /not for spiffe:/],
  ['no subject', jwtResponse({ aud: ['keycloak'], exp }), /not for spiffe:/],
  ['another audience', jwtResponse({ ...good, aud: ['other'] }), /all audiences/],
  ['no audience', jwtResponse({ sub: id, exp }), /all audiences/],
  ['no end', jwtResponse({ sub: id, aud: 'keycloak' }), /no end/],
  ['an end in words', jwtResponse({ ...good, exp: String(exp) }), /no end/],
  ['an end that is over', jwtResponse({ ...good, exp: now / 1000 }), /past it/],
];
for (const [what, bytes, says] of refused) {
  test(`${what} is refused in words that hold nothing of the token`, () => {
    const read = readJwtSvid(bytes, asked);
    assert.ok(typeof read === 'string');
    assert.match(read, says);
    assert.doesNotMatch(read, /eyJ/);
  });
}

test('a token must be for every audience asked for', () => {
  const both = { ...asked, audiences: ['keycloak', 'other'] };
  assert.equal(typeof readJwtSvid(jwtResponse(good), both), 'string');
  assert.equal(typeof readJwtSvid(jwtResponse({ ...good, aud: ['other', 'keycloak'] }), both), 'object');
});

test('random tokens and claims never throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => typeof readJwtSvid(bytes, asked) === 'string'));
  fc.assert(fc.property(fc.string(), (token) => typeof readJwtSvid(one(token.toWellFormed()), asked) === 'string'));
  fc.assert(
    fc.property(fc.json(), (text) => typeof readJwtSvid(jwtResponse(JSON.parse(text) as never), asked) === 'string'),
  );
});
