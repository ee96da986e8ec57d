/** Ranges of addresses: what is one, whether it is canonical, and which lies within which. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Cidr, isCanonical, isStrictlyWithin, parseCidr } from '../../../runtime/encoding/cidr.ts';

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed, text);
  return parsed;
}

for (const text of [
  '10.0.0.0',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '010.0.0.0/8',
  '256.0.0.0/8',
  '10.0.0/8',
  '10.0.0.0.0/8',
  '10.0.0.0/8/8',
  ' 10.0.0.0/8',
  '10.0.0.0/-1',
  'fd00::/129',
  'fd00::1::/64',
  'fd00/16',
  '1:2:3:4:5:6:7/64',
  '1:2:3:4:5:6:7:8:9/64',
  '1:2:3:4:5:6:7:8::/64',
  '::ffff:10.0.0.1/128',
  'fe80::1%eth0/64',
  'fd00::g/64',
  `${'1:'.repeat(100)}/64`,
  '',
  '/',
]) {
  test(`no range: ${text.slice(0, 30)}`, () => assert.equal(parseCidr(text), undefined));
}

for (const [text, canonical] of [
  ['10.0.0.0/8', true],
  ['10.1.0.0/8', false],
  ['169.254.20.10/32', true],
  ['0.0.0.0/0', true],
  ['0.0.0.1/0', false],
  ['::/0', true],
  ['fd00::10/128', true],
  ['fd00::10/64', false],
  ['2001:db8:0:0:0:0:0:0/32', true],
  ['1::/16', true],
  ['::1/127', false],
] as const) {
  test(`${text} is ${canonical ? '' : 'not '}canonical`, () => assert.equal(isCanonical(cidr(text)), canonical));
}

for (const [inner, outer, expected] of [
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['11.0.0.0/16', '10.0.0.0/8', false],
  ['10.0.0.0/7', '10.0.0.0/8', false],
  ['fd00::/64', '::/0', true],
  ['fd00::/64', '0.0.0.0/0', false],
  ['10.0.0.0/8', '0.0.0.0/0', true],
] as const) {
  test(`${inner} is ${expected ? '' : 'not '}within ${outer}`, () =>
    assert.equal(isStrictlyWithin(cidr(inner), cidr(outer)), expected));
}

test('property: every IPv4 and IPv6 address is a range of one, and the same as it was written', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const value = address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
      assert.deepEqual(parseCidr(`${address}/32`), { bits: 32, value, prefix: 32 });
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (parts) => {
      const value = parts.reduce((sum, part) => sum * 65536n + BigInt(part), 0n);
      const text = parts.map((part) => part.toString(16)).join(':');
      assert.deepEqual(parseCidr(`${text}/128`), { bits: 128, value, prefix: 128 });
      // As the standard library abbreviates it.
      const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
      assert.deepEqual(parseCidr(`${short}/128`), { bits: 128, value, prefix: 128 });
    }),
  );
});
