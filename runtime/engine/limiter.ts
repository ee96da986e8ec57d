/** A token bucket: at most so many requests a second, with a burst. */

import type { Clock } from './clock.ts';

export interface Rate {
  /** Tokens a second. */
  readonly perSecond: number;
  /** Most tokens saved up. */
  readonly burst: number;
}

/**
 * Default of an API client. The API server's own priority and fairness protects it from us; this is the belt to those braces. Enrolling 500
 * objects with three requests each in under eight seconds needs 200 a second.
 */
export const defaultRate: Rate = { perSecond: 300, burst: 600 };

export interface Limiter {
  /** Takes one token and returns how long its holder must wait before acting, in milliseconds. First come, first served. */
  reserve(): number;
  /** Takes one token if there is one now. */
  tryTake(): boolean;
}

/** A bucket that starts full. */
export function createLimiter(rate: Rate, clock: Clock): Limiter {
  let tokens = rate.burst;
  let filledAt = clock.monotonicMs();
  const refill = (): void => {
    const now = clock.monotonicMs();
    tokens = Math.min(rate.burst, tokens + ((now - filledAt) * rate.perSecond) / 1000);
    filledAt = now;
  };
  return {
    reserve: () => {
      refill();
      tokens -= 1;
      return tokens >= 0 ? 0 : (-tokens * 1000) / rate.perSecond;
    },
    tryTake: () => {
      refill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

/** No limit: for leader election, whose requests must never wait behind others. */
export const unlimited: Limiter = { reserve: () => 0, tryTake: () => true };
