import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { delayMs, watchBackOff } from '../../../runtime/engine/back-off.ts';
import { createLimiter } from '../../../runtime/engine/limiter.ts';
import { fakeClock } from '../../support/fake-clock.ts';

test('WT-03: watches back off from 0.8 s, doubling to 30 s', () => {
  const longest = Array.from({ length: 8 }, (_, attempt) => delayMs(watchBackOff, attempt, () => 0));
  assert.deepEqual(longest, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
});

test('property: a delay lies between its half and its whole, at any attempt', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, random) => {
      const full = Math.min(800 * 2 ** Math.min(attempt, 30), 30_000);
      const delay = delayMs(watchBackOff, attempt, () => random);
      assert.ok(delay >= full / 2 && delay <= full);
    }),
  );
});

test('the limiter lets a burst pass, then one every so often, in order', async () => {
  const clock = fakeClock();
  const limiter = createLimiter({ perSecond: 10, burst: 3 }, clock);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => limiter.reserve()),
    [0, 0, 0, 100, 200],
  );
  assert.equal(limiter.tryTake(), false);
  await clock.advance(10_000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => limiter.tryTake()),
    [true, true, true, false],
  );
});
