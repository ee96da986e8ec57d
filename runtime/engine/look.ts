/** Does one thing again and again: when woken, after a while, and sooner when it failed or is not finished. */

import { type Clock, pause } from './clock.ts';

export interface LookParts {
  readonly clock: Clock;
  /** Told of each failure. */
  readonly failed: (error: unknown) => void;
}

export interface Looking {
  readonly wake: () => void;
  /** No further look is begun. */
  readonly stop: () => void;
}

const soonestMs = 250;
const soonMs = 1_000;
const longestSoonMs = 16_000;

/** Starts at once; one look at a time. `soon`, or a failure: the next look after 1, 2, 4 … 16 s, or `everyMs` if that is shorter. */
export function lookRepeatedly(parts: LookParts, everyMs: number, look: () => Promise<'done' | 'soon'>): Looking {
  const end = new AbortController();
  let nap = new AbortController();
  let isWoken = false;
  let backOffMs = soonMs;

  async function run(): Promise<void> {
    while (!end.signal.aborted) {
      isWoken = false;
      const outcome = await look().catch((error: unknown) => {
        parts.failed(error);
        return 'soon' as const;
      });
      nap = new AbortController();
      if (isWoken) nap.abort();
      const ms = outcome === 'soon' ? Math.min(backOffMs, everyMs) : everyMs;
      backOffMs = outcome === 'soon' ? Math.min(backOffMs * 2, longestSoonMs) : soonMs;
      await pause(parts.clock, ms, AbortSignal.any([nap.signal, end.signal]));
      if (isWoken) await pause(parts.clock, Math.min(soonestMs, everyMs), end.signal);
    }
  }

  void run();
  return {
    wake: () => {
      isWoken = true;
      nap.abort();
    },
    stop: () => end.abort(),
  };
}
