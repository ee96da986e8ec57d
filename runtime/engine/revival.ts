/** Lets the watches that wait for an unreachable API server know when one of them has been answered, so that all return soon after the first. */

import { type Clock, pause } from './clock.ts';

export interface Revival {
  /** A watch has been answered. */
  announce(): void;
  /** Waits `ms`, or until another watch is answered and then up to a second more, at random, so that not all return at once. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export function createRevival(clock: Clock, random: () => number): Revival {
  const waiting = new Set<() => void>();
  return {
    announce: () => {
      for (const wake of waiting) wake();
    },
    pause: async (ms, signal) => {
      const woken = new AbortController();
      const end = (): void => woken.abort();
      signal.addEventListener('abort', end, { once: true });
      waiting.add(end);
      const begun = clock.monotonicMs();
      if (!signal.aborted) await pause(clock, ms, woken.signal);
      waiting.delete(end);
      signal.removeEventListener('abort', end);
      const leftMs = ms - (clock.monotonicMs() - begun);
      if (leftMs > 0 && !signal.aborted) await pause(clock, Math.min(leftMs, 1_000 * random()), signal);
    },
  };
}
