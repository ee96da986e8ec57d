import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { depthExceeds } from '../../../runtime/engine/json-depth.ts';

test('depth counts brackets, not those in strings', () => {
  const deep = (text: string, limit: number) => depthExceeds(Buffer.from(text), limit);
  assert.equal(deep('[[[[1]]]]', 4), false);
  assert.equal(deep('[[[[[1]]]]]', 4), true);
  assert.equal(deep(`{"a":"${'['.repeat(50)}","b\\"[[[[[[":[]}`, 4), false);
  assert.equal(deep(`["\\\\",${'['.repeat(9)}`, 4), true);
});
