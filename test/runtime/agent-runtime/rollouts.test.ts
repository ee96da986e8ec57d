/** CF-03: places in the rollout, as a table of stories and as a property under random asking and settling. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { createRollouts, type RolloutLimits } from '../../../runtime/agent-runtime/rollouts.ts';
import type { ObjectKey } from '../../../runtime/engine/types.ts';

const key = (name: string | number): ObjectKey => ({ namespace: 'team1', name: String(name) });
const limits = (maxConcurrent: number, more: Partial<RolloutLimits> = {}): RolloutLimits => ({
  maxConcurrent,
  paused: false,
  deadlineMs: 1000,
  ...more,
});

function begun(running: readonly ObjectKey[] = []) {
  const woken: string[] = [];
  const rollouts = createRollouts();
  rollouts.begin(running, 0, ({ name }) => woken.push(name));
  return { rollouts, woken };
}

test('CF-03 the next in the order of asking gets the place, and is woken', () => {
  const { rollouts, woken } = begun();
  assert.equal(rollouts.request(key('a'), limits(1), 0).kind, 'held');
  assert.deepEqual(rollouts.request(key('b'), limits(1), 10), {
    kind: 'waiting',
    waitedMs: 0,
    lookMs: 1000,
    isPaused: false,
  });
  assert.equal(rollouts.request(key('c'), limits(1), 20).kind, 'waiting');
  assert.deepEqual([rollouts.inProgress, rollouts.waiting], [1, 2]);
  rollouts.settle(key('a'), 30);
  assert.deepEqual(woken, ['b']);
  assert.equal(rollouts.request(key('c'), limits(1), 40).kind, 'waiting');
  assert.deepEqual(rollouts.request(key('b'), limits(1), 50), { kind: 'held', leftMs: 980 });
});

test('CF-03 a place is lost at its deadline, and the next one moves up', () => {
  const { rollouts } = begun();
  rollouts.request(key('stuck'), limits(1), 0);
  assert.equal(rollouts.request(key('b'), limits(1), 999).kind, 'waiting');
  assert.equal(rollouts.request(key('b'), limits(1), 1000).kind, 'held');
  assert.equal(rollouts.held(key('stuck'), 1000).kind, 'none');
  assert.equal(rollouts.request(key('stuck'), limits(1), 1001).kind, 'waiting');
});

test('CF-03 paused holds all that have not begun; a raised limit lets those in who wait', () => {
  const { rollouts, woken } = begun();
  rollouts.request(key('a'), limits(1), 0);
  const paused = rollouts.request(key('b'), limits(5, { paused: true }), 1);
  assert.deepEqual(paused, { kind: 'waiting', waitedMs: 0, lookMs: 1000, isPaused: true });
  assert.equal(rollouts.held(key('a'), 2).kind, 'held');
  rollouts.request(key('c'), limits(5, { paused: true }), 3);
  assert.equal(rollouts.request(key('b'), limits(5), 4).kind, 'held');
  assert.deepEqual(woken, ['c']);
});

test('CF-03 a restarted leader counts the rollouts under way', () => {
  const { rollouts, woken } = begun([key('a'), key('b')]);
  assert.equal(rollouts.request(key('c'), limits(2), 1).kind, 'waiting');
  rollouts.settle(key('a'), 2);
  assert.deepEqual(woken, ['c']);
});

test('nobody gets a place before the controller has begun, nor after it has ended', () => {
  const rollouts = createRollouts();
  assert.equal(rollouts.request(key('a'), limits(1), 0).kind, 'waiting');
  const woken: string[] = [];
  rollouts.begin([], 1, ({ name }) => woken.push(name));
  assert.deepEqual(woken, ['a']);
  assert.equal(rollouts.request(key('a'), limits(1), 2).kind, 'held');
  rollouts.end();
  assert.deepEqual([rollouts.inProgress, rollouts.waiting], [0, 0]);
});

test('a key that no longer wants to wait is forgotten', () => {
  const { rollouts, woken } = begun();
  for (const name of ['a', 'b', 'c']) rollouts.request(key(name), limits(1), 0);
  rollouts.settle(key('b'), 1);
  rollouts.settle(key('a'), 2);
  assert.deepEqual(woken, ['c']);
});

test('property: never more than the limit at once, and everybody gets a turn', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.uniqueArray(fc.nat(50), { minLength: 1 }), (max, names) => {
      const queue: string[] = names.map(String);
      const done: string[] = [];
      const rollouts = createRollouts();
      rollouts.begin([], 0, ({ name }) => queue.push(name));
      for (let at = 1; queue.length > 0; at += 1) {
        const name = queue.shift() ?? '';
        const place = rollouts.request(key(name), limits(max, { deadlineMs: 1e9 }), at);
        assert.ok(rollouts.inProgress <= max);
        if (place.kind !== 'held') continue;
        done.push(name);
        rollouts.settle(key(name), at);
      }
      assert.deepEqual([...done].sort(), names.map(String).sort());
      assert.deepEqual([rollouts.inProgress, rollouts.waiting], [0, 0]);
    }),
  );
});
