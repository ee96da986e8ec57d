/** Strict JSON: what means the same to every parser is read as JSON.parse reads it, all else is refused with its kind and place. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isJsonObject, type JsonFault, parseStrictJson } from '../../../runtime/encoding/strict-json.ts';

const limits = { bytes: 1024 * 1024, depth: 64 };
const parse = (text: string | Uint8Array) =>
  parseStrictJson(typeof text === 'string' ? Buffer.from(text) : text, limits);

const refused: readonly (readonly [text: string | Uint8Array, kind: JsonFault['kind'], message: RegExp])[] = [
  ['', 'syntax', /ends too early \(line 1, column 1\)/],
  [' \n ', 'syntax', /ends too early \(line 2, column 2\)/],
  ['{"a":1}x', 'syntax', /"x" is unexpected \(line 1, column 8\)/],
  ['{"a":1,}', 'syntax', /"}" is unexpected/],
  ['[1,]', 'syntax', /"]" is unexpected/],
  ['{a:1}', 'syntax', /"a" is unexpected/],
  ["{'a':1}", 'syntax', /unexpected/],
  ['[01]', 'syntax', /"1" is unexpected/],
  ['[1.]', 'syntax', /unexpected/],
  ['[+1]', 'syntax', /unexpected/],
  ['[.5]', 'syntax', /unexpected/],
  ['[NaN]', 'syntax', /"N" is unexpected/],
  ['[Infinity]', 'syntax', /unexpected/],
  ['{"a":1}{"b":2}', 'syntax', /unexpected/],
  ['[1] // comment', 'syntax', /unexpected/],
  ['["a\nb"]', 'syntax', /"\\n" is unexpected/],
  ['["\\x41"]', 'syntax', /an escape that JSON does not know/],
  ['["\\u12"]', 'syntax', /an escape that JSON does not know/],
  ['["abc', 'syntax', /ends too early/],
  ['["abc\\', 'syntax', /ends too early/],
  ['\ufeff{}', 'syntax', /"\\ufeff" is unexpected/],
  ['\u00a0{}', 'syntax', /unexpected/],
  ['[tru]', 'syntax', /"t" is unexpected/],
  [Buffer.from([0x22, 0xff, 0x22]), 'encoding', /not UTF-8/],
  [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'encoding', /not UTF-8/],
  [Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'encoding', /not UTF-8/],
  ['{"a":1,"a":1}', 'duplicate', /the member "a" occurs twice in one object \(line 1, column 8\)/],
  ['{"a":1,"\\u0061":2}', 'duplicate', /"a" occurs twice/],
  ['[{"x":{"b":1,"c":2,"b":3}}]', 'duplicate', /"b" occurs twice/],
  ['{"__proto__":1,"__proto__":2}', 'duplicate', /"__proto__" occurs twice/],
  ['{"1":1,"1":2}', 'duplicate', /"1" occurs twice/],
  ['["\\ud800"]', 'value', /lone surrogate/],
  ['{"\\udc00":1}', 'value', /lone surrogate/],
  ['["\\udc00\\ud800"]', 'value', /lone surrogate/],
  ['[1e400]', 'value', /out of range/],
  ['[-1e999]', 'value', /out of range/],
  ['['.repeat(65), 'limit', /deeper than 64 levels/],
  ['{"a":'.repeat(65), 'limit', /deeper than 64 levels/],
  [' '.repeat(1024 * 1024 + 1), 'limit', /larger than 1048576 bytes/],
];

for (const [text, kind, message] of refused) {
  test(`refuses as ${kind}: ${JSON.stringify(text.toString().slice(0, 40))}`, () => {
    const result = parse(text);
    assert.ok('fault' in result);
    assert.equal(result.fault.kind, kind);
    assert.match(result.fault.message, message);
  });
}

test('the deepest and the largest that are allowed are read', () => {
  assert.ok('value' in parse('['.repeat(64) + ']'.repeat(64)));
  assert.ok('value' in parse(`"${'x'.repeat(1024 * 1024 - 2)}"`));
});

test('what a fault quotes is bounded, escaped and on one line', () => {
  const result = parse(`{"${'\\u001b\\n'.repeat(500)}":1,"${'\\u001b\\n'.repeat(500)}":2}`);
  assert.ok('fault' in result);
  assert.ok(result.fault.message.length < 600);
  assert.match(result.fault.message, /^[\x20-\x7e]+$/);
});

test('names that are special in JavaScript are members like any other', () => {
  const result = parse('{"__proto__":{"polluted":true},"constructor":1,"toString":2,"hasOwnProperty":3}');
  assert.ok('value' in result && isJsonObject(result.value));
  assert.deepEqual(Object.keys(result.value), ['__proto__', 'constructor', 'toString', 'hasOwnProperty']);
  assert.equal(Object.getPrototypeOf(result.value), Object.prototype);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('minus zero and the spelling of numbers come out as JSON.parse has them', () => {
  const result = parse('[-0, -0.0, 1E5, 1e-7, 0.1, 9007199254740993, 123456789012345678901234567890]');
  assert.deepEqual(result, { value: [-0, -0, 100000, 1e-7, 0.1, 9007199254740992, 1.2345678901234568e29] });
});

test('any JSON without duplicates is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'large', stringUnit: 'binary' }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      assert.deepEqual(parse(text), { value: JSON.parse(text) as unknown });
    }),
  );
});

test('a text spoiled anywhere is refused whenever JSON.parse refuses it, and nothing throws', () => {
  const spoiled = fc
    .tuple(
      fc.json({ depthSize: 'small' }),
      fc.nat(),
      fc.constantFrom('"', '\\', '{', ']', ',', ':', '0', 'e', '-', ' ', 'u', '\u0000'),
    )
    .map(([text, place, char]) => {
      const cut = place % (text.length + 1);
      return text.slice(0, cut) + char + text.slice(cut + (place % 2));
    });
  fc.assert(
    fc.property(spoiled, (text) => {
      const ours = parse(text);
      const theirs = parsedByNode(text);
      if (theirs === undefined) assert.ok('fault' in ours, text);
      else if ('value' in ours) assert.deepEqual(ours.value, theirs.value);
      else assert.notEqual(ours.fault.kind, 'syntax', text);
    }),
    { numRuns: 2000 },
  );
});

test('random bytes never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const result = parseStrictJson(bytes, limits);
      assert.ok('value' in result || result.fault.message.length > 0);
    }),
  );
});

function parsedByNode(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
