/** How often one thing is put back: a fight is no reason to be busy with nothing else. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createPutBacks } from '../../../runtime/workload/put-backs.ts';

const wanted = 'a';
const away = { wanted, isThere: false };

test('ten times a minute at once, then once in five seconds, until a minute was quiet', () => {
  const putBacks = createPutBacks();
  const said: number[] = [];
  let at = 0;
  for (; at < 60_000; at += 100) if (putBacks.waitMs('u', { ...away, at }) === 0) said.push(at);
  assert.deepEqual(said.slice(0, 11), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 5_900]);
  assert.equal(said.length, 21);
  assert.equal(putBacks.waitMs('u', { ...away, at: 57_000 }), 3_900);
  assert.equal(putBacks.waitMs('other', { ...away, at }), 0);
  at = 200_000;
  for (let i = 0; i < 10; i += 1) assert.equal(putBacks.waitMs('u', { ...away, at }), 0);
  assert.equal(putBacks.waitMs('u', { ...away, at }), 5_000);
});

test('what is there costs nothing, and another statement never waits', () => {
  const putBacks = createPutBacks();
  for (let i = 0; i < 100; i += 1) assert.equal(putBacks.waitMs('u', { wanted, isThere: true, at: 0 }), 0);
  for (let i = 0; i < 10; i += 1) assert.equal(putBacks.waitMs('u', { ...away, at: 0 }), 0);
  assert.equal(putBacks.waitMs('u', { ...away, at: 1_000 }), 4_000);
  assert.equal(putBacks.waitMs('u', { wanted: 'b', isThere: false, at: 1_000 }), 0);
  for (let i = 0; i < 11; i += 1) putBacks.waitMs('u', { wanted: 'b', isThere: false, at: 1_000 });
  putBacks.forget('u');
  assert.equal(putBacks.waitMs('u', { wanted: 'b', isThere: false, at: 1_000 }), 0);
});
