/** Time as a dependency: the wall clock for what others read, a monotonic one for every measurement. */

export interface Clock {
  /** The wall clock. May jump. */
  now(): Date;
  /** Milliseconds since some start; never goes back. */
  monotonicMs(): number;
  /** Calls `fn` once after `ms` milliseconds; returns its own cancel. Until then the process stays alive. */
  after(ms: number, fn: () => void): () => void;
}

/** setTimeout fires at once beyond this. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), longestTimerMs));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when `signal` is aborted: it never rejects, the caller looks at the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
