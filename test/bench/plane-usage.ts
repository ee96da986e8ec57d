/** What etcd, the API server and the controller manager use, and when they have come to rest. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchBed } from './bed.ts';
import { usageOf } from './process-usage.ts';

/** Seconds of CPU so far. */
export function planeCpuSeconds({ plane }: BenchBed): number {
  return plane.processes().reduce((total, { pid }) => total + usageOf(pid).cpuMs, 0) / 1000;
}

const restingShare = 0.25;
const longestMs = 60_000;

/** Resolves when they used little for a second: what they still do after a scenario is no part of the next. Waits a minute at most. */
export async function untilPlaneRests(bed: BenchBed): Promise<void> {
  const end = performance.now() + longestMs;
  for (let before = planeCpuSeconds(bed); performance.now() < end; ) {
    await sleep(1_000);
    const now = planeCpuSeconds(bed);
    if (now - before < restingShare) return;
    before = now;
  }
}
