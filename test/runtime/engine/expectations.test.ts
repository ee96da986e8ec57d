import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExpectations, isAtLeast } from '../../../runtime/engine/expectations.ts';
import type { Kind, ObjectMeta } from '../../../runtime/engine/types.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const kind: Kind = { apiVersion: 'v1', kind: 'K', plural: 'ks', namespaced: true };
const key = { namespace: 'n', name: 'a' };

/** A cache that shows what it is told to. */
function rig() {
  const clock = fakeClock();
  const shown: { metadata: ObjectMeta | undefined; isWatched: boolean } = { metadata: undefined, isWatched: true };
  const cache = {
    watches: () => shown.isWatched,
    peek: () =>
      shown.metadata === undefined
        ? undefined
        : { object: { apiVersion: 'v1', kind: 'K', metadata: shown.metadata }, owned: () => undefined },
  };
  return { clock, shown, expectations: createExpectations(cache, clock) };
}

test('versions compare as whole numbers of any length; others can only be equal', () => {
  for (const [a, b, expected] of [
    ['10', '9', true],
    ['9', '10', false],
    ['123456789012345678901', '99999999999999999999', true],
    ['7', '7', true],
    ['abc', 'abc', true],
    ['abd', 'abc', false],
  ] as const) {
    assert.equal(isAtLeast(a, b), expected, `${a} ${b}`);
  }
});

test('a key is behind until the cache shows the version written, or a newer one', () => {
  const { shown, expectations } = rig();
  shown.metadata = { uid: 'u', resourceVersion: '9' };
  assert.equal(expectations.isBehind('k'), false);
  expectations.wrote('k', { kind, key, uid: 'u', resourceVersion: '12' });
  expectations.wrote('other', { kind, key, uid: 'u', resourceVersion: '9' });
  assert.deepEqual([expectations.isBehind('k'), expectations.isBehind('other')], [true, false]);
  shown.metadata = { uid: 'u', resourceVersion: '13' };
  assert.equal(expectations.isBehind('k'), false);
  shown.metadata = { uid: 'u', resourceVersion: '9' };
  assert.equal(expectations.isBehind('k'), false, 'what has been seen is not waited for again');
});

test('a write that never shows is waited for five seconds', async () => {
  const { clock, shown, expectations } = rig();
  shown.metadata = { uid: 'u', resourceVersion: '9' };
  expectations.wrote('k', { kind, key, uid: 'u', resourceVersion: '12' });
  await clock.advance(5_000);
  assert.equal(expectations.isBehind('k'), true);
  await clock.advance(1);
  assert.equal(expectations.isBehind('k'), false);
});

test('an object that was created is waited for shortly, and not at all where nothing watches its kind', async () => {
  const { clock, shown, expectations } = rig();
  expectations.wrote('k', { kind, key, uid: 'u', resourceVersion: '12' });
  assert.equal(expectations.isBehind('k'), true);
  await clock.advance(300);
  assert.equal(expectations.isBehind('k'), false);
  shown.isWatched = false;
  expectations.wrote('k', { kind, key, uid: 'u', resourceVersion: '12' });
  assert.equal(expectations.isBehind('k'), false);
});

test('an object that was removed is waited for until it is gone, being deleted, or another', () => {
  const { shown, expectations } = rig();
  for (const after of [undefined, { uid: 'v' }, { uid: 'u', deletionTimestamp: 'T' }]) {
    shown.metadata = { uid: 'u', resourceVersion: '9' };
    expectations.wrote('k', { kind, key, uid: 'u' });
    assert.equal(expectations.isBehind('k'), true);
    shown.metadata = after;
    assert.equal(expectations.isBehind('k'), false);
  }
});
