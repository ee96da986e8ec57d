/** DER: what only BER allows is refused. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  booleanOf,
  checkDer,
  DerError,
  elements,
  oidOf,
  only,
  smallIntegerOf,
  tags,
  timeOf,
} from '../../../runtime/signature/der.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const read = (hex: string) => only(bytes(hex), bytes(hex)[0] ?? 0);

const refused: readonly (readonly [because: string, hex: string])[] = [
  ['an indefinite length', '30800000'],
  ['a length in more bytes than it needs', '30810100'],
  ['a length with a leading zero', '30820080' + '00'.repeat(128)],
  ['a length of four bytes', '30840000000100'],
  ['a length beyond the end', '300500'],
  ['a tag alone', '30'],
  ['a tag of several bytes', '1f810100'],
  ['nesting without end', '3080'.repeat(40)],
];

for (const [because, hex] of refused) {
  test(`no DER: ${because}`, () => assert.throws(() => checkDer(bytes(hex)), DerError));
}

test('nesting is bounded', () => {
  let nested = Buffer.alloc(0);
  for (let depth = 0; depth < 40; depth++) nested = Buffer.concat([Buffer.from([0x30, nested.length]), nested]);
  assert.throws(() => checkDer(nested), DerError);
});

test('elements stand side by side, long ones too', () => {
  const long = `308180${'0500'.repeat(64)}`;
  assert.deepEqual(
    elements(bytes(`0500${long}020101`)).map(({ tag, content }) => [tag, content.length]),
    [
      [0x05, 0],
      [tags.sequence, 128],
      [tags.integer, 1],
    ],
  );
  assert.throws(() => only(bytes('05000500'), 0x05), DerError);
});

test('booleans, numbers, identifiers and times', () => {
  assert.equal(booleanOf(read('0101ff')), true);
  assert.equal(booleanOf(read('010100')), false);
  for (const hex of ['010101', '0100', '0102ffff']) assert.throws(() => booleanOf(read(hex)), DerError);
  assert.equal(smallIntegerOf(read('020100')), 0);
  assert.equal(smallIntegerOf(read('02020080')), 128);
  for (const hex of ['0201ff', '0200', '02020001', '02050100000000']) {
    assert.throws(() => smallIntegerOf(read(hex)), DerError);
  }
  assert.equal(oidOf(read('0603551d0f')), '2.5.29.15');
  assert.equal(oidOf(read('06092a864886f70d01010b')), '1.2.840.113549.1.1.11');
  assert.equal(oidOf(read('0603883703')), '2.999.3');
  for (const hex of ['0600', '060380551d', '060255ff']) assert.throws(() => oidOf(read(hex)), DerError);
  const time = (tag: string, text: string) => {
    const body = Buffer.from(text).toString('hex');
    return timeOf(read(`${tag}${text.length.toString(16).padStart(2, '0')}${body}`));
  };
  assert.equal(time('17', '491231235959Z'), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(time('17', '500101000000Z'), Date.UTC(1950, 0, 1));
  assert.equal(time('18', '99991231235959Z'), Date.UTC(9999, 11, 31, 23, 59, 59));
  const wrong = ['260230000000Z', '261301000000Z', '260101240000Z', '260101000000+0000', '2601010000Z', '26010100000Z'];
  for (const text of wrong) assert.throws(() => time('17', text), DerError, text);
});
