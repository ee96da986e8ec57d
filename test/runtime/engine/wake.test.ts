import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ObjectMeta } from '../../../runtime/engine/types.ts';
import { isWakened } from '../../../runtime/engine/wake.ts';

const object = (metadata: ObjectMeta, status = ''): KubeObject & { status: string } => ({
  apiVersion: 'v1',
  kind: 'K',
  metadata: { uid: 'u', generation: 1, labels: { a: '1' }, ...metadata },
  status,
});
const old = object({ resourceVersion: '1' });

for (const [why, now, expected] of [
  ['status alone', object({ resourceVersion: '2' }, 'new'), false],
  ['managed fields alone', object({ resourceVersion: '2', managedFields: [{ manager: 'm' }] }), false],
  ['generation', object({ generation: 2 }), true],
  ['a label', object({ labels: { a: '2' } }), true],
  ['an annotation', object({ annotations: { a: '2' } }), true],
  ['a finalizer', object({ finalizers: ['f'] }), true],
  ['deletion', object({ deletionTimestamp: 'T' }), true],
  ['another uid', object({ uid: 'v' }), true],
] as const) {
  test(`a change of ${why} ${expected ? 'wakes' : 'does not wake'}; with "any" everything does`, () => {
    assert.equal(isWakened('spec', { old, now }), expected);
    assert.equal(isWakened('any', { old, now }), true);
  });
}

test('appearing, vanishing, and any change of a kind without generation wake', () => {
  assert.equal(isWakened('spec', { now: old }), true);
  assert.equal(isWakened('spec', { old }), true);
  const bare = { ...old, metadata: { ...old.metadata, generation: undefined } };
  assert.equal(isWakened('spec', { old: bare, now: bare }), true);
});
