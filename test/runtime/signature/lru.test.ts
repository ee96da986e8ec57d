/** The cache: bounded by weight, oldest use first. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLru } from '../../../runtime/signature/lru.ts';

test('what was used longest ago goes first', () => {
  const lru = createLru<number>(3);
  for (const key of ['a', 'b', 'c']) lru.set(key, key.charCodeAt(0), 1);
  assert.equal(lru.get('a'), 97);
  lru.set('d', 1, 1);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => lru.get(key)),
    [97, undefined, 99, 1],
  );
});

test('an entry heavier than the cache is not kept, and replaces what it was to replace', () => {
  const lru = createLru<number>(3);
  lru.set('a', 1, 1);
  lru.set('a', 2, 4);
  assert.equal(lru.get('a'), undefined);
  assert.equal(lru.weight(), 0);
});

test('the weight is never above the bound, and is that of what is there', () => {
  const actions = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 6 })));
  fc.assert(
    fc.property(actions, (given) => {
      const lru = createLru<number>(10);
      for (const [key, weight] of given) {
        lru.set(key, weight, weight);
        assert.ok(lru.weight() <= 10);
      }
      const sum = ['a', 'b', 'c', 'd'].reduce((total, key) => total + (lru.get(key) ?? 0), 0);
      assert.equal(lru.weight(), sum);
      lru.clear();
      assert.equal(lru.weight(), 0);
    }),
  );
});
