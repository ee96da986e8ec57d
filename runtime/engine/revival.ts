/** Lets the watches that wait for an API server, or for their kind, know when there is reason to ask again, so that all return soon. */

import { type Clock, pause } from './clock.ts';

/** `answered`: another watch has been; `there`: what was refused is believed to be there by now. */
export type Announcement = 'answered' | 'there';

export interface Revival {
  announce(what: Announcement): void;
  /**
   * Waits `ms`, or until the next announcement and then up to a second more, at random, so that not all return at once. Resolves to what was
   * announced.
   */
  pause(ms: number, signal: AbortSignal): Promise<Announcement | undefined>;
}

export function createRevival(clock: Clock, random: () => number): Revival {
  const waiting = new Set<(what: Announcement) => void>();
  return {
    announce: (what) => {
      for (const wake of waiting) wake(what);
    },
    pause: async (ms, signal) => {
      const woken = new AbortController();
      let announced: Announcement | undefined;
      const end = (what: Announcement): void => {
        if (announced !== 'there') announced = what;
        woken.abort();
      };
      waiting.add(end);
      const begun = clock.monotonicMs();
      await pause(clock, ms, AbortSignal.any([woken.signal, signal]));
      const leftMs = ms - (clock.monotonicMs() - begun);
      if (leftMs > 0 && !signal.aborted) await pause(clock, Math.min(leftMs, 1_000 * random()), signal);
      waiting.delete(end);
      return announced;
    },
  };
}
