/** Remembers what was written for a key until the cache shows it, so that a pass on an old view never repeats a write. */

import type { Cache } from './cache.ts';
import type { Clock } from './clock.ts';
import type { Kind, ObjectKey } from './types.ts';

/** One write that succeeded. */
export interface Written {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly uid?: string | undefined;
  /** The version the API server answered with; absent: the object was removed. */
  readonly resourceVersion?: string | undefined;
}

export interface Expectations {
  wrote(key: string, write: Written): void;
  /** True while the cache may still be older than a write made for the key: five seconds at most. */
  isBehind(key: string): boolean;
  forget(key: string): void;
}

/** An object the cache does not hold may be outside its selectors, so an appearance is waited for only shortly. */
const appearanceMs = 300;
const longestMs = 5_000;

export function createExpectations(cache: Pick<Cache, 'peek' | 'watches'>, clock: Clock): Expectations {
  const pending = new Map<string, readonly (Written & { readonly at: number })[]>();
  const isOpen = (write: Written & { readonly at: number }): boolean => {
    const age = clock.monotonicMs() - write.at;
    if (age > longestMs) return false;
    const seen = cache.peek(write.kind, write.key)?.object.metadata;
    if (write.resourceVersion === undefined) {
      return seen !== undefined && seen.uid === write.uid && seen.deletionTimestamp === undefined;
    }
    if (seen === undefined) return age < appearanceMs && cache.watches(write.kind);
    return seen.uid === write.uid && !isAtLeast(seen.resourceVersion ?? '', write.resourceVersion);
  };
  return {
    wrote: (key, write) => {
      pending.set(key, [...(pending.get(key) ?? []), { ...write, at: clock.monotonicMs() }]);
    },
    isBehind: (key) => {
      const open = (pending.get(key) ?? []).filter(isOpen);
      if (open.length === 0) pending.delete(key);
      else pending.set(key, open);
      return open.length > 0;
    },
    forget: (key) => void pending.delete(key),
  };
}

/** Whether version `a` is `b` or newer. Versions are whole numbers of one sequence; others can only be equal. */
export function isAtLeast(a: string, b: string): boolean {
  if (a === b) return true;
  const isNumber = /^[1-9]\d*$/;
  if (!isNumber.test(a) || !isNumber.test(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}
