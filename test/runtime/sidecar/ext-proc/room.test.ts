import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoom } from '../../../../runtime/sidecar/ext-proc/room.ts';

test('so many requests at once and no more; one that ends makes room', () => {
  const room = createRoom({ requests: 2, bytes: 1_000 });
  const [first, second] = [room.take(10), room.take(10)];
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(room.take(10), undefined);
  first();
  assert.notEqual(room.take(10), undefined);
  assert.equal(room.take(10), undefined);
});

test('large heads take more of it', () => {
  const room = createRoom({ requests: 10, bytes: 1_000 });
  const large = room.take(900);
  assert.equal(room.take(200), undefined);
  assert.notEqual(room.take(100), undefined);
  large?.();
  assert.notEqual(room.take(900), undefined);
});
