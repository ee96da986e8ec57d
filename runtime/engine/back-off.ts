/** How long to wait before the n-th retry. */

export interface BackOff {
  readonly baseMs: number;
  readonly capMs: number;
  /** Part of the delay that is random, 0 to 1: the result lies in `[delay × (1 − jitter), delay]`. */
  readonly jitter: number;
}

/** For watches: 0.8 s doubling to 30 s, half of it random, so that many watches do not return at the same moment. */
export const watchBackOff: BackOff = { baseMs: 800, capMs: 30_000, jitter: 0.5 };

/** For one key of a queue: 5 ms doubling to 5 minutes. */
export const keyBackOff: BackOff = { baseMs: 5, capMs: 300_000, jitter: 0.2 };

/** The delay before retry `attempt` (0 is the first), in milliseconds. `random` is uniform in [0, 1). */
export function delayMs(backOff: BackOff, attempt: number, random: () => number): number {
  const full = Math.min(backOff.baseMs * 2 ** Math.min(attempt, 30), backOff.capMs);
  return full * (1 - backOff.jitter * random());
}
