/** Patterns with stars, held against what a regular expression says of short texts. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { isLike, isPartLike } from '../../../runtime/sidecar/wildcard.ts';

test('a pattern matches what its regular expression matches', () => {
  const text = (...letters: readonly string[]) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((it) => it.join(''));
  fc.assert(
    fc.property(text('a', 'b', '*'), text('a', 'b'), (pattern, value) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(value);
      assert.equal(isLike(pattern, value), expected, `${pattern} ${value}`);
    }),
    { numRuns: 3_000 },
  );
});

test('a star alone wants something of a part', () => {
  assert.ok(isPartLike('*', 'a') && isPartLike('a*', 'a') && isPartLike('**', ''));
  assert.ok(!isPartLike('*', ''));
});

test('no text takes long', () => {
  const begun = performance.now();
  assert.ok(!isLike(`${'*a'.repeat(100)}b`, 'a'.repeat(100_000)));
  assert.ok(performance.now() - begun < 200);
});
