/** What is wrong with the pods of an enrolled workload beside those our watch sees, and how long it has been so. */

import type { PodCounts } from '../workload/pod-counts.ts';
import type { Rollout } from '../workload/rollout.ts';

export type SnagKind = 'refused' | 'lacking' | 'unseen';

/** As seen now, with the milliseconds for which it has been seen without a break. */
export interface Snag {
  readonly kind: SnagKind;
  readonly lastedMs: number;
  /** It is told once it has lasted this long: sooner it may be over at once, or nothing but a lag between two watches. */
  readonly graceMs: number;
}

export interface Pods {
  readonly counts: PodCounts;
  /** See `unseenPods`. */
  readonly unseen: number;
  readonly rollout: Rollout;
}

/** How long a snag must last before it is told. In milliseconds. */
export interface SnagLimits {
  /** For what is known: a refusal, which Kubernetes tries to overcome several times within this, and pods that nothing replaces. */
  readonly shortMs: number;
  /** For what is awaited: as long as a rollout has to show its newest pod. */
  readonly longMs: number;
}

export const snagLimits: SnagLimits = Object.freeze({ shortMs: 5_000, longMs: 60_000 });

/** The gravest one; undefined: none. */
export function snagOf(
  { counts, unseen, rollout }: Pods,
  { shortMs, longMs }: SnagLimits = snagLimits,
): Omit<Snag, 'lastedMs'> | undefined {
  if (counts.refusal !== undefined) return { kind: 'refused', graceMs: shortMs };
  if (counts.lacking !== undefined) return { kind: 'lacking', graceMs: longMs };
  if (unseen > 0) return { kind: 'unseen', graceMs: rollout === 'running' ? longMs : shortMs };
  return undefined;
}

/** In memory, bounded, by workload. Times are of one monotonic clock. A restarted operator starts anew; until then status stands as it was. */
export interface Snags {
  /** Milliseconds since the first of the looks without a break that found `what`. Undefined `what`: nothing, which ends it. */
  look(uid: string, what: string | undefined, atMs: number): number;
  readonly size: number;
}

const capacity = 10_000;

export function createSnags(): Snags {
  const known = new Map<string, { readonly what: string; readonly sinceMs: number }>();
  return {
    look: (uid, what, atMs) => {
      const before = known.get(uid);
      if (what === undefined) {
        known.delete(uid);
        return 0;
      }
      if (before?.what === what) return atMs - before.sinceMs;
      known.delete(uid);
      known.set(uid, { what, sinceMs: atMs });
      const oldest = known.keys().next().value;
      if (known.size > capacity && oldest !== undefined) known.delete(oldest);
      return 0;
    },
    get size() {
      return known.size;
    },
  };
}
