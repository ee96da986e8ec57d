/** Pruning as the API server does it: by name at any depth, and not where a schema keeps what it does not know. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { type PruningSchema, pruned } from '../../../runtime/api/schema-pruning.ts';

const value = { a: 1, b: { c: 2, d: 3 }, e: [{ f: 4, g: 5 }], h: null };
const leaf = {};
const cases: readonly (readonly [what: string, schema: PruningSchema, left: unknown])[] = [
  ['nothing is known', {}, {}],
  ['some fields are', { properties: { a: leaf, h: leaf } }, { a: 1, h: null }],
  ['at depth', { properties: { b: { properties: { d: leaf } } } }, { b: { d: 3 } }],
  ['in lists', { properties: { e: { items: { properties: { g: leaf } } } } }, { e: [{ g: 5 }] }],
  ['all is kept', { 'x-kubernetes-preserve-unknown-fields': true }, value],
  [
    'all is kept but below what is known',
    { properties: { b: { properties: { c: leaf } } }, 'x-kubernetes-preserve-unknown-fields': true },
    { ...value, b: { c: 2 } },
  ],
  ['a map', { additionalProperties: true }, value],
  ['a map of objects', { additionalProperties: { properties: { c: leaf } } }, { a: 1, b: { c: 2 }, e: [{}], h: null }],
];
for (const [what, schema, left] of cases) {
  test(what, () => assert.deepEqual(pruned(value, schema), left));
}

test('names that every object inherits are fields like any other', () => {
  assert.deepEqual(pruned({ constructor: 1 }, { properties: {} }), {});
});
