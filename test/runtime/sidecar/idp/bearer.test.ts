/** The header `Authorization`, as RFC 6750 and RFC 9110 write it and as nobody may. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { authorizationOf, largestToken, writtenClaims } from '../../../../runtime/sidecar/idp/bearer.ts';

const rows: readonly (readonly [what: string, values: readonly string[], expected: unknown])[] = [
  ['no header', [], { kind: 'none' }],
  ['an empty header', ['  '], { kind: 'none' }],
  ['a token', ['Bearer abc.def-_~+/=='], { kind: 'bearer', token: 'abc.def-_~+/==' }],
  ['the scheme in other letters', ['bEARER abc'], { kind: 'bearer', token: 'abc' }],
  ['more blanks', [' Bearer \t abc '], { kind: 'bearer', token: 'abc' }],
  ['another scheme', ['Basic dXNlcjpwdw=='], { kind: 'other', scheme: 'basic' }],
  ['no token', ['Bearer'], { kind: 'malformed', why: 'no-token' }],
  ['two words', ['Bearer abc def'], { kind: 'malformed', why: 'characters' }],
  ['a list', ['Bearer abc, Bearer def'], { kind: 'malformed', why: 'characters' }],
  ['quotes', ['Bearer "abc"'], { kind: 'malformed', why: 'characters' }],
  ['two headers', ['Bearer abc', 'Bearer abc'], { kind: 'malformed', why: 'several' }],
  ['more than any token', [`Bearer ${'a'.repeat(largestToken)}`], { kind: 'too-large' }],
];

for (const [what, values, expected] of rows) {
  test(`Authorization: ${what}`, () => assert.deepEqual(authorizationOf(values), expected));
}

test('whatever is taken for a token can be sent as one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const authorization = authorizationOf([`Bearer ${text}`]);
      assert.ok(authorization.kind !== 'bearer' || /^[\x21-\x7e]+$/.test(authorization.token));
    }),
  );
});

test('claims are read from a compact token alone, and only when they mean one thing', () => {
  const token = (payload: string) => `e30.${Buffer.from(payload).toString('base64url')}.c2ln`;
  assert.deepEqual(writtenClaims(token('{"iss":"a"}')), { iss: 'a' });
  for (const no of ['', 'abc', token('[]'), token('{"iss":"a","iss":"b"}'), `${token('{}')}.x`, 'e30.*.c2ln']) {
    assert.equal(writtenClaims(no), undefined, no);
  }
});
