/** A process whose event loop stands still says so: in a process of its own, which it stops for seconds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHealth } from '../../runtime/engine/health.ts';

test('a stalled event loop fails healthz, and is forgiven after two windows', async (t) => {
  const it = createHealth({ stallMs: 1_000, windowMs: 700 });
  t.after(() => it.stop());
  // The measurement takes one tick to begin.
  await sleep(600);
  const until = performance.now() + 2_000;
  while (performance.now() < until);
  await sleep(50);
  assert.match(it.healthz().checks[0]?.reason ?? '', /stood still for \d+ ms/);
  // Bounded by the runner alone: on a busy machine other stalls may follow, and each is forgiven in its turn.
  while (!it.healthz().ok) await sleep(100);
});
