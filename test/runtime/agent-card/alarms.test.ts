/** Many deadlines, one timer; places and their two lanes; what is kept of documents; rhythm. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createAlarms } from '../../../runtime/agent-card/alarms.ts';
import { createBodies } from '../../../runtime/agent-card/bodies.ts';
import { createLanes } from '../../../runtime/agent-card/lanes.ts';
import { pauseMs, spreadMs } from '../../../runtime/agent-card/rhythm.ts';
import { fakeClock } from '../../support/fake-clock.ts';

test('alarms ring in the order of their time, each once, whatever was set and cancelled before', async () => {
  const steps = fc.array(
    fc.record({
      id: fc.integer({ min: 0, max: 12 }),
      at: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const clock = fakeClock();
      const rung: (readonly [string, number])[] = [];
      const alarms = createAlarms(clock, (id) => rung.push([id, clock.monotonicMs()]));
      const wanted = new Map<string, number>();
      for (const { id, at } of steps) {
        if (at === undefined) {
          alarms.cancel(`${id}`);
          wanted.delete(`${id}`);
        } else {
          alarms.set(`${id}`, at);
          wanted.set(`${id}`, at);
        }
        assert.equal(alarms.at(`${id}`), at);
        assert.equal(alarms.size, wanted.size);
        assert.equal(clock.timers, Math.min(1, wanted.size));
      }
      await clock.advance(100);
      assert.deepEqual(
        rung.map(([, at]) => at),
        rung.map(([, at]) => at).toSorted((a, b) => a - b),
      );
      assert.deepEqual(new Map(rung), wanted);
      assert.equal(rung.length, wanted.size);
      assert.deepEqual([alarms.size, clock.timers], [0, 0]);
    }),
  );
});

test('an alarm that sets itself again, or is past, rings once a time; cleared ones never', async () => {
  const clock = fakeClock();
  const rung: string[] = [];
  const alarms = createAlarms(clock, (id) => {
    rung.push(id);
    if (rung.length < 3) alarms.set(id, clock.monotonicMs() + 10);
  });
  clock.stall(50);
  alarms.set('a', 20);
  await clock.advance(100);
  assert.deepEqual(rung, ['a', 'a', 'a']);
  alarms.set('b', 1_000);
  alarms.clear();
  await clock.advance(1_000);
  assert.deepEqual([rung.length, clock.timers], [3, 0]);
});

test('a quarter of the places is the slow lane, and the first to come is the first to be asked', () => {
  const begun: string[] = [];
  const lanes = createLanes(8, (id) => begun.push(id));
  for (let i = 0; i < 10; i += 1) lanes.enter(`q${i}`, 'quick', 'team1');
  for (let i = 0; i < 4; i += 1) lanes.enter(`s${i}`, 'slow', 'team1');
  assert.deepEqual(lanes.counts, { quick: { asking: 6, waiting: 4 }, slow: { asking: 2, waiting: 2 } });
  lanes.leave('q7');
  lanes.leave('q0');
  lanes.leave('s1');
  lanes.enter('q1', 'slow', 'team1');
  assert.equal(begun.join(', '), 'q0, q1, q2, q3, q4, q5, s0, s1, q6, s2');
  assert.equal(lanes.has('q7'), false);
  assert.equal(lanes.has('q8'), true);
});

test('those that answer slowly and those that never do have the slow places by turns, however many there are of either', () => {
  const begun: string[] = [];
  const lanes = createLanes(8, (id) => begun.push(id));
  let ended = 0;
  const leave = (): void => {
    for (const id of begun.slice(ended)) lanes.leave(id);
    ended += 2;
  };
  for (let i = 0; i < 50; i += 1) lanes.enter(`n${i}`, 'silent', 'team1');
  for (let i = 0; i < 4; i += 1) lanes.enter(`s${i}`, 'slow', 'team1');
  assert.equal(lanes.has('n49') && lanes.has('s3'), true);
  assert.deepEqual(lanes.counts.slow, { asking: 2, waiting: 52 });
  for (let i = 0; i < 4; i += 1) leave();
  lanes.enter('s0', 'slow', 'team1');
  leave();
  assert.equal(begun.slice(0, 12).join(' '), 'n0 n1 n2 s0 n3 s1 n4 s2 n5 s3 n6 s0');
  lanes.clear();
  assert.deepEqual(lanes.counts.slow, { asking: 0, waiting: 0 });
});

test('the quick places are given by turns of namespaces, however many of one wait', () => {
  const begun: string[] = [];
  const lanes = createLanes(4, (id) => begun.push(id));
  for (let i = 0; i < 100; i += 1) lanes.enter(`e${i}`, 'quick', 'evil');
  for (const id of ['a0', 'a1']) lanes.enter(id, 'quick', 'a');
  lanes.enter('b0', 'quick', 'b');
  for (let i = 0; i < 7; i += 1) lanes.leave(begun[i] ?? '');
  assert.equal(begun.join(' '), 'e0 e1 e2 e3 a0 b0 e4 a1 e5 e6');
  for (const id of ['e7', 'e8']) lanes.leave(id);
  assert.equal(lanes.has('e8'), false);
  assert.equal(lanes.counts.quick.waiting, 91);
});

test('whoever is asked moves to the slow lane only where that has a place and nobody waits', () => {
  const lanes = createLanes(4, () => {});
  for (const id of ['a', 'b', 'c', 'd']) lanes.enter(id, 'quick', 'team1');
  assert.equal(lanes.move('d'), false);
  assert.equal(lanes.move('a'), true);
  assert.deepEqual(lanes.counts, { quick: { asking: 3, waiting: 0 }, slow: { asking: 1, waiting: 0 } });
  assert.equal(lanes.move('b'), false);
  lanes.clear();
  assert.deepEqual(lanes.counts, { quick: { asking: 0, waiting: 0 }, slow: { asking: 0, waiting: 0 } });
});

test('an agent keeps its own pace within a tenth of its period; one that hangs is asked up to four times more rarely', () => {
  const uids = Array.from({ length: 1_000 }, (_, i) => `uid-${i}`);
  const paces = uids.map((uid) => pauseMs(uid, 30_000, 0));
  assert.ok(paces.every((ms) => ms >= 27_000 && ms <= 33_000));
  assert.equal(new Set(paces).size, 1_000);
  assert.equal(pauseMs('a', 30_000, 0), pauseMs('a', 30_000, 0));
  for (const uid of uids.slice(0, 20)) {
    assert.equal(pauseMs(uid, 30_000, 1), 2 * pauseMs(uid, 30_000, 0));
    assert.ok(pauseMs(uid, 30_000, 2) <= 120_000);
    assert.equal(pauseMs(uid, 30_000, 9), 120_000);
    assert.equal(pauseMs(uid, 30_000, 5_000), 120_000);
    assert.equal(pauseMs(uid, 1_000, 1), 5_000);
  }
});

test('after a start the first requests are spread evenly over the period', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 1_000; i += 1) {
    const ms = spreadMs(`uid-${i}`, 30_000);
    assert.ok(ms >= 0 && ms < 30_000);
    tenths[Math.floor(ms / 3_000)] = (tenths[Math.floor(ms / 3_000)] ?? 0) + 1;
  }
  assert.ok(
    tenths.every((count) => count > 60 && count < 140),
    tenths.join(' '),
  );
});

test('large documents do not drive out small ones; of each the newest are kept while there is room', () => {
  const bodies = createBodies(300_000);
  const [small, large] = [new Uint8Array(65_536), new Uint8Array(100_000)];
  for (const uid of ['s1', 's2']) bodies.put(uid, small);
  for (const uid of ['l1', 'l2', 'l3', 'l4']) bodies.put(uid, large);
  const kept = () => ['s1', 's2', 'l1', 'l2', 'l3', 'l4', 'huge'].filter((uid) => bodies.get(uid) !== undefined);
  assert.deepEqual(kept(), ['s1', 's2', 'l2', 'l3', 'l4']);
  assert.equal(bodies.size, 2 * 65_536 + 300_000);
  bodies.put('l2', large);
  bodies.put('huge', new Uint8Array(1_048_576));
  assert.deepEqual(kept(), ['s1', 's2', 'huge']);
  bodies.put('huge', small);
  bodies.drop('s1');
  bodies.drop('s1');
  assert.equal(bodies.size, 2 * 65_536);
  for (let i = 0; i < 100; i += 1) bodies.put(`s${i}`, small);
  assert.ok(bodies.size <= 4 * 300_000);
  assert.deepEqual([bodies.get('s81') === undefined, bodies.get('s82') === undefined], [true, false]);
  bodies.clear();
  assert.deepEqual([kept(), bodies.size], [[], 0]);
});
