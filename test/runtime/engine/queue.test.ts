import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { createQueue, type Queue } from '../../../runtime/engine/queue.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

interface Rig {
  readonly queue: Queue;
  readonly clock: FakeClock;
  readonly worked: string[];
  readonly bugs: unknown[];
  readonly metric: (name: string) => Promise<number>;
}

function rig(work: (key: string) => Promise<void> | void = () => {}, concurrency = 1): Rig {
  const clock = fakeClock();
  const metrics = createMetrics({ process: false });
  const worked: string[] = [];
  const bugs: unknown[] = [];
  const queue = createQueue({
    name: 'q',
    concurrency,
    work: async (key) => {
      worked.push(key);
      await work(key);
    },
    onBug: (_, error) => bugs.push(error),
    clock,
    metrics,
    random: () => 0,
  });
  const metric = async (name: string): Promise<number> => {
    const line = (await metrics.text()).split('\n').find((one) => one.startsWith(`${name}{name="q"} `));
    return Number(line?.split(' ')[1] ?? Number.NaN);
  };
  return { queue, clock, worked, bugs, metric };
}

test('a key waits once however often it is added, and nothing is worked on before the start', async () => {
  const { queue, clock, worked, metric } = rig();
  for (let i = 0; i < 1_000; i += 1) queue.add(`k${i % 3}`);
  assert.equal(queue.depth, 3);
  await clock.advance(0);
  assert.deepEqual(worked, []);
  queue.start();
  await clock.advance(0);
  assert.deepEqual(worked, ['k0', 'k1', 'k2']);
  assert.equal(await metric('workqueue_adds_total'), 3);
  assert.equal(await metric('workqueue_depth'), 0);
});

test('a key added while it is worked on is worked on once more, after those that waited', async () => {
  const rigged = rig((key) => {
    if (key === 'a' && rigged.worked.length === 1) for (let i = 0; i < 5; i += 1) rigged.queue.add('a');
  });
  rigged.queue.add('a');
  rigged.queue.add('b');
  rigged.queue.start();
  await rigged.clock.advance(0);
  assert.deepEqual(rigged.worked, ['a', 'b', 'a']);
});

test('of several deadlines the earliest holds, and an immediate add ends them all', async () => {
  const { queue, clock, worked } = rig();
  queue.start();
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 900);
  await clock.advance(99);
  assert.deepEqual(worked, []);
  await clock.advance(1);
  assert.deepEqual(worked, ['a']);
  await clock.advance(10_000);
  assert.deepEqual(worked, ['a']);
  queue.addAfter('b', 100);
  queue.add('b');
  await clock.advance(1_000);
  assert.deepEqual(worked, ['a', 'b']);
  assert.equal(clock.timers, 0);
});

test('the back-off of a key doubles from 5 ms to five minutes and starts anew when forgotten', () => {
  const { queue } = rig();
  assert.deepEqual(
    [1, 2, 3, 4].map(() => queue.retry('a')),
    [5, 10, 20, 40],
  );
  assert.equal(queue.retry('b'), 5);
  for (let i = 0; i < 40; i += 1) queue.retry('a');
  assert.equal(queue.retry('a'), 300_000);
  queue.forget('a');
  assert.equal(queue.retry('a'), 5);
});

test('work that breaks is told of and the key can come again', async () => {
  const { queue, clock, worked, bugs } = rig(() => {
    throw new Error('bug');
  });
  queue.start();
  queue.add('a');
  await clock.advance(0);
  queue.add('a');
  await clock.advance(0);
  assert.deepEqual([worked, bugs.length], [['a', 'a'], 2]);
});

test('a stop takes no more keys, drops those waiting, and resolves when the work under way has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { queue, clock, worked } = rig(() => promise);
  queue.start();
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  await clock.advance(0);
  let isStopped = false;
  const stopped = queue.stop().then(() => (isStopped = true));
  queue.add('d');
  await clock.advance(100);
  assert.equal(isStopped, false);
  resolve();
  await stopped;
  await clock.advance(1_000);
  assert.deepEqual(worked, ['a']);
  assert.equal(clock.timers, 0);
});

test('property: no key is worked on twice at once, none is lost, and the last add is always followed by work', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.constant(0) }),
    fc.record({ do: fc.constant('after' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(50) }),
    fc.record({ do: fc.constant('advance' as const), key: fc.constant(''), ms: fc.nat(60) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
      const active = new Set<string>();
      const dirty = new Set<string>();
      const rigged: Rig = rig(async (key) => {
        assert.ok(!active.has(key) && active.size < concurrency);
        active.add(key);
        dirty.delete(key);
        await new Promise<void>((resolve) => rigged.clock.after(7, resolve));
        active.delete(key);
      }, concurrency);
      rigged.queue.start();
      for (const one of steps) {
        if (one.do === 'advance') await rigged.clock.advance(one.ms);
        else {
          dirty.add(one.key);
          if (one.do === 'add') rigged.queue.add(one.key);
          else rigged.queue.addAfter(one.key, one.ms);
        }
      }
      await rigged.clock.advance(10_000);
      assert.deepEqual([dirty.size, active.size, rigged.queue.depth, rigged.bugs], [0, 0, 0, []]);
    }),
    { numRuns: 200 },
  );
});
