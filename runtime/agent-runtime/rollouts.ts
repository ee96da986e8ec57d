/** Bounded rollouts: at most so many workloads restart their pods at once, the next in the order they asked (CF-03). */

import type { ObjectKey } from '../engine/types.ts';

/** What the platform's configuration allows (`rollout` in its schema). */
export interface RolloutLimits {
  readonly maxConcurrent: number;
  /** No new rollout begins; those begun go on. */
  readonly paused: boolean;
  /** A rollout that has not finished by then frees its place. */
  readonly deadlineMs: number;
}

/** Whether a workload may restart its pods now. */
export type Place =
  /** It has no place, and asks for none. */
  | { readonly kind: 'none' }
  /** It may. The place is lost after `leftMs`. */
  | { readonly kind: 'held'; readonly leftMs: number }
  /** It is woken when its turn comes, and looks again by itself after `lookMs`. */
  | { readonly kind: 'waiting'; readonly waitedMs: number; readonly lookMs: number; readonly isPaused: boolean };

/**
 * The places, in memory: every call is O(1). All times are of one monotonic clock, in milliseconds.
 * A place is held by the key of an AgentRuntime, which frees it by its own reconciles; a holder that has vanished is cleared away when
 * its deadline has passed and another key asks.
 */
export interface Rollouts {
  /** Asks for a place, or for the state of the one held. Nobody gets one before `begin`. */
  request(key: ObjectKey, limits: RolloutLimits, atMs: number): Place;
  /** The place this key holds, without asking for one. */
  held(key: ObjectKey, atMs: number): Place;
  /** The key needs no place: it waits no longer, and one that it held goes to the next. */
  settle(key: ObjectKey, atMs: number): void;
  /** Starts granting: `running` are the rollouts already under way, which count against the limit (a restarted leader). */
  begin(running: readonly ObjectKey[], atMs: number, wake: (key: ObjectKey) => void): void;
  /** Stops granting and forgets everything. */
  end(): void;
  /** For the gauges `rossoctl_rollout_in_progress` and `rossoctl_rollout_waiting`. */
  readonly inProgress: number;
  readonly waiting: number;
}

interface Entry {
  readonly key: ObjectKey;
  readonly sinceMs: number;
}

/** A deadline for places granted before any limits were seen. */
const defaultDeadlineMs = 600_000;

export function createRollouts(): Rollouts {
  /** In the order granted, so that with one deadline for all the first is the first to pass it. */
  const places = new Map<string, Entry>();
  /** In the order asked. */
  const queue = new Map<string, Entry>();
  let limits: RolloutLimits = { maxConcurrent: 0, paused: false, deadlineMs: defaultDeadlineMs };
  let wake: ((key: ObjectKey) => void) | undefined;

  /** Gives free places to those who wait. `asking` is not woken: it learns by its answer. */
  function grant(atMs: number, asking?: string): void {
    dropOverdue(atMs);
    if (wake === undefined || limits.paused) return;
    for (const [id, { key }] of queue) {
      if (places.size >= limits.maxConcurrent) return;
      queue.delete(id);
      places.set(id, { key, sinceMs: atMs });
      if (id !== asking) wake(key);
    }
  }

  function held(id: string, atMs: number): Place {
    dropOverdue(atMs);
    const place = places.get(id);
    return place === undefined ? { kind: 'none' } : { kind: 'held', leftMs: place.sinceMs + limits.deadlineMs - atMs };
  }

  function dropOverdue(atMs: number): void {
    for (const [id, { sinceMs }] of places) {
      if (sinceMs + limits.deadlineMs > atMs) return;
      places.delete(id);
    }
  }

  return {
    request: (key, asked, atMs) => {
      limits = asked;
      const id = idOf(key);
      dropOverdue(atMs);
      if (!places.has(id) && !queue.has(id)) queue.set(id, { key, sinceMs: atMs });
      grant(atMs, id);
      const place = held(id, atMs);
      if (place.kind === 'held') return place;
      const waitedMs = atMs - (queue.get(id)?.sinceMs ?? atMs);
      return { kind: 'waiting', waitedMs, lookMs: limits.deadlineMs, isPaused: limits.paused };
    },
    held: (key, atMs) => held(idOf(key), atMs),
    settle: (key, atMs) => {
      const id = idOf(key);
      const waited = queue.delete(id);
      if (places.delete(id) || waited) grant(atMs);
    },
    begin: (running, atMs, wakeKey) => {
      wake = wakeKey;
      for (const key of running) places.set(idOf(key), { key, sinceMs: atMs });
      for (const { key } of queue.values()) wakeKey(key);
    },
    end: () => {
      wake = undefined;
      places.clear();
      queue.clear();
    },
    get inProgress() {
      return places.size;
    },
    get waiting() {
      return queue.size;
    },
  };
}

function idOf({ namespace, name }: ObjectKey): string {
  return `${namespace ?? ''}/${name}`;
}
