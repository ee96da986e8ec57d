/** RFC 8785: the vectors of its appendices, what must be refused, and the invariants for any JSON value. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalJson } from '../../../runtime/encoding/canonical-json.ts';

/** RFC 8785 appendix B: the bits of a double and its canonical text. */
const numbers: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

function double(bits: string): number {
  return Buffer.from(bits, 'hex').readDoubleBE();
}

test('SG-02 numbers are written as RFC 8785 appendix B says', () => {
  for (const [bits, text] of numbers) assert.equal(canonicalJson(double(bits)), text, bits);
});

test('SG-02 members are sorted by UTF-16 code units (RFC 8785 section 3.2.3)', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  const order = [...canonicalJson(value).matchAll(/:"(\w+)/g)].map((match) => match[1]);
  assert.deepEqual(order, ['Carriage', 'One', 'Control', 'Latin', 'Euro', 'Emoji', 'Hebrew']);
});

test('SG-02 text is neither normalised nor escaped beyond need', () => {
  assert.equal(canonicalJson('Caf\u00e9'), '"Caf\u00e9"');
  assert.equal(canonicalJson('Cafe\u0301'), '"Cafe\u0301"');
  assert.equal(canonicalJson('<>&\u2028\u007f/'), '"<>&\u2028\u007f/"');
  assert.equal(canonicalJson('\u0000\b\t\n\f\r"\\\u001f'), '"\\u0000\\b\\t\\n\\f\\r\\"\\\\\\u001f"');
});

test('arrays keep their order, nested values are canonical, nothing is added', () => {
  assert.equal(
    canonicalJson({ b: [3, { d: null, c: true }, []], a: {}, signatures: [1] }),
    '{"a":{},"b":[3,{"c":true,"d":null},[]],"signatures":[1]}',
  );
});

const refused: readonly (readonly [why: string, value: unknown, message: RegExp])[] = [
  ['NaN', { a: [1, Number.NaN] }, /NaN is not a JSON number \(at \/a\/1\)/],
  ['infinity', -Infinity, /-Infinity is not a JSON number \(at the root\)/],
  ['undefined is not left out silently', { a: undefined }, /undefined has no JSON form \(at \/a\)/],
  ['a hole is not left out silently', Array(1), /undefined has no JSON form \(at \/0\)/],
  ['a bigint', { 'x/y~': 1n }, /bigint has no JSON form \(at \/x~1y~0\)/],
  ['a function', () => 0, /function has no JSON form/],
  ['a symbol', Symbol('s'), /symbol has no JSON form/],
  ['a lone surrogate in a value', '\ud800', /lone surrogate/],
  ['a lone surrogate in a key', { '\udc00': 1 }, /lone surrogate/],
  ['a Date, which would be text by accident', { at: new Date(0) }, /only plain objects have a JSON form \(at \/at\)/],
  ['a Map, which would be empty', new Map([['a', 1]]), /only plain objects/],
  ['bytes', new Uint8Array(1), /only plain objects/],
];

for (const [why, value, message] of refused) {
  test(`refuses ${why}`, () => {
    assert.throws(() => canonicalJson(value), { name: 'TypeError', message });
  });
}

test('an own key named __proto__ is a key like any other', () => {
  assert.equal(canonicalJson(JSON.parse('{"__proto__":1,"a":2}')), '{"__proto__":1,"a":2}');
});

/** Any JSON value with well-formed text; keys of all sorts, also such that look like array indexes. */
const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });

test('the text means the same value, and is its own canonical form', () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      const back: unknown = JSON.parse(text);
      // `-0` has no text of its own.
      assert.deepEqual(back, JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(back), text);
    }),
  );
});

test('CF-01 insertion order leaves no trace', () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), json), {
    selector: ([key]) => key,
    maxLength: 12,
  });
  fc.assert(
    fc.property(entries, fc.infiniteStream(fc.nat()), (pairs, ranks) => {
      const shuffled = pairs
        .map((pair) => ({ pair, rank: ranks.next().value }))
        .sort((a, b) => Number(a.rank) - Number(b.rank))
        .map(({ pair }) => pair);
      assert.equal(canonicalJson(Object.fromEntries(shuffled)), canonicalJson(Object.fromEntries(pairs)));
    }),
  );
});
