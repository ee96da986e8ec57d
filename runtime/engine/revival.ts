/** Lets the watches that wait for an API server, or for their kind, know when there is reason to ask again, so that all return soon. */

import { type Clock, pause } from './clock.ts';

export interface Revival {
  /** A watch has been answered, or a kind has come to be. */
  announce(): void;
  /**
   * Waits `ms`, or until the next announcement and then up to a second more, at random, so that not all return at once. Resolves to whether there
   * was one.
   */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
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
      return woken.signal.aborted;
    },
  };
}
