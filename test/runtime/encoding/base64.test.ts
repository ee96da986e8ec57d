/** Base64 in its canonical spelling only. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { bytesOfBase64, bytesOfBase64Url } from '../../../runtime/encoding/base64.ts';

test('bytes come back from both alphabets', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const given = Buffer.from(bytes);
      assert.deepEqual(bytesOfBase64(given.toString('base64')), given);
      assert.deepEqual(bytesOfBase64Url(given.toString('base64url')), given);
    }),
  );
});

const wrong: readonly (readonly [why: string, text: string])[] = [
  ['a line break', 'QUJD\nREVG'],
  ['a space', 'QUJD REVG'],
  ['stray bits in the last character', 'QUJDRB=='],
  ['no padding', 'QUI'],
  ['padding within', 'QQ==QQ=='],
  ['the other alphabet', '-_-_'],
  ['a foreign character', 'QU*D'],
  ['one character too many', 'QUJDR'],
];

for (const [why, text] of wrong) {
  test(`standard base64 refuses ${why}`, () => assert.equal(bytesOfBase64(text), undefined));
}

for (const text of ['QUI=', 'QUJDRB', '+/+/', 'QU\nJD', 'QUJDR', ' QUJD', 'QUJD ']) {
  test(`base64url refuses ${JSON.stringify(text)}`, () => assert.equal(bytesOfBase64Url(text), undefined));
}
