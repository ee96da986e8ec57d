/** Asks every agent for its card in its own rhythm, so that none that hangs or floods delays another; wakes its card only on news. */

import type { FetchReason } from '../api/conditions.ts';
import type { ObjectKey } from '../engine/types.ts';
import { createAlarms, type Timekeeper } from './alarms.ts';
import { createBodies } from './bodies.ts';
import type { Ask, Contacts, Endpoint, Endpoints, Wanted } from './contact.ts';
import {
  type Attempt,
  contactOf,
  type Entry,
  expire,
  hasMoved,
  isSilent,
  moved,
  newEntry,
  place,
  take,
  want,
} from './entry.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { pauseMs, spreadMs } from './rhythm.ts';
import { askInTurn, type Outcome } from './round.ts';
import { found, turnsOf } from './turns.ts';

export interface ContactsOptions {
  readonly ask: Ask;
  readonly time: Timekeeper;
  /** Requests under way at once. Default 64. */
  readonly limit?: number;
  /** For one attempt, in which up to three pods are asked, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** An attempt that lasts longer gives up its place among the quick ones, in milliseconds. Default 2,000. */
  readonly quickMs?: number;
  /** Bytes of documents over 64 KiB that are kept for the next pass, and a quarter of what smaller ones may take. Default 8 MiB. */
  readonly roomBytes?: number;
  /** Told of each attempt that has ended, for metrics. Default: nobody. */
  readonly onAttempt?: (result: AttemptResult, ms: number) => void;
}

export type AttemptResult = 'card' | 'unchanged' | FetchReason;

/** For gauges. */
export interface ContactCounts {
  readonly agents: number;
  readonly lanes: Lanes['counts'];
  readonly bodyBytes: number;
}

/**
 * Does nothing before its source is started, and forgets everything when that is stopped: what cannot be asked is not kept either. Each new
 * agent is asked in the quick lane; one that takes longer than `quickMs` goes on among the slow, or is asked again there when all their places are
 * taken, and returns by a quick answer. Those that answer slowly wait for each other there, and not for all that never answer.
 */
export function createContacts(options: ContactsOptions): Contacts & { readonly counts: () => ContactCounts } {
  const { ask, time, limit = 64, timeoutMs = 10_000, quickMs = 2_000 } = options;
  const { roomBytes = 8 * 1024 * 1024, onAttempt = () => {} } = options;
  const entries = new Map<string, Entry>();
  const bodies = createBodies(roomBytes);
  const lanes = createLanes(limit, (uid) => withEntry(uid, begin));
  const due = createAlarms(time, (uid) =>
    withEntry(uid, ({ lane, key }) => lanes.enter(uid, lane, key.namespace ?? '')),
  );
  const losses = createAlarms(time, (uid) => withEntry(uid, lose));
  const overstays = createAlarms(time, (uid) => withEntry(uid, overstay));
  let wake: ((key: ObjectKey) => void) | undefined;

  function withEntry(uid: string, then: (entry: Entry) => void): void {
    const entry = entries.get(uid);
    if (entry !== undefined) then(entry);
  }

  function begin(entry: Entry): void {
    const turns = turnsOf(entry.wanted.endpoints, entry.experience);
    const attempt = { abort: new AbortController(), atMs: time.monotonicMs(), endpoint: turns[0] };
    entry.attempt = attempt;
    if (entry.memory.sinceMs === undefined) entry.memory = { ...entry.memory, sinceMs: attempt.atMs };
    watchLoss(entry);
    if (entry.lane === 'quick') overstays.set(entry.uid, attempt.atMs + quickMs);
    void converse(entry, attempt, turns);
  }

  async function converse(entry: Entry, attempt: Attempt, turns: Endpoints): Promise<void> {
    const known = entry.isBodyNeeded ? undefined : entry.memory.known;
    const begin = (endpoint: Endpoint): boolean => {
      const isThere = found(entry.wanted.endpoints, endpoint) !== undefined;
      if (isThere) attempt.endpoint = endpoint;
      return isThere;
    };
    const outcome = await askInTurn(ask, { turns, known, signal: attempt.abort.signal, time, timeoutMs, begin });
    if (entry.attempt === attempt) end(entry, outcome, attempt.atMs);
  }

  function end(entry: Entry, outcome: Outcome, begunMs: number): void {
    const { uid, wanted } = entry;
    const { fetched } = outcome;
    const atMs = time.monotonicMs();
    const isHeard = take(entry, outcome, { now: time.now(), atMs });
    entry.attempt = undefined;
    place(entry, outcome, atMs - begunMs <= quickMs);
    if (fetched.kind === 'card') bodies.put(uid, fetched.body);
    quit(entry);
    const isOwed = entry.isBodyNeeded && fetched.kind === 'unchanged';
    due.set(uid, isOwed ? atMs : Math.max(atMs, begunMs + pauseMs(uid, wanted.periodMs, entry.hung)));
    watchLoss(entry);
    onAttempt(fetched.kind === 'failed' ? fetched.reason : fetched.kind, atMs - begunMs);
    if (isHeard) wake?.(entry.key);
  }

  /** Its attempt, if there is one, counts no more, and its place is free. */
  function quit(entry: Entry): void {
    entry.attempt?.abort.abort();
    entry.attempt = undefined;
    overstays.cancel(entry.uid);
    lanes.leave(entry.uid);
  }

  function overstay(entry: Entry): void {
    entry.lane = isSilent(entry) ? 'silent' : 'slow';
    if (lanes.move(entry.uid)) return;
    quit(entry);
    lanes.enter(entry.uid, entry.lane, entry.key.namespace ?? '');
  }

  function watchLoss({ uid, isLost, memory, wanted }: Entry): void {
    if (isLost || memory.sinceMs === undefined) losses.cancel(uid);
    else losses.set(uid, memory.sinceMs + wanted.patienceMs);
  }

  function lose(entry: Entry): void {
    entry.isLost = true;
    wake?.(entry.key);
  }

  function adapt(entry: Entry, wanted: Wanted): void {
    const { uid, wanted: before } = entry;
    const dueMs = due.at(uid);
    expire(entry, time.monotonicMs());
    const isElsewhere = hasMoved(entry, wanted);
    want(entry, wanted);
    if (isElsewhere) {
      quit(entry);
      moved(entry);
      due.set(uid, time.monotonicMs());
    } else if (before.periodMs !== wanted.periodMs && dueMs !== undefined) {
      due.set(uid, Math.min(dueMs, time.monotonicMs() + pauseMs(uid, wanted.periodMs, entry.hung)));
    }
    if (before.patienceMs === wanted.patienceMs) return;
    entry.memory = bearWith(entry, before);
    watchLoss(entry);
  }

  /** Whoever is not late by the old rhythm is not late at once by a quicker one, in which it has not been asked yet; nor is it waited for any longer. */
  function bearWith({ memory, wanted: { patienceMs } }: Entry, before: Wanted): Entry['memory'] {
    const { sinceMs } = memory;
    if (sinceMs === undefined || patienceMs > before.patienceMs) return memory;
    const lostMs = Math.min(sinceMs + before.patienceMs, time.monotonicMs() + patienceMs);
    return { ...memory, sinceMs: Math.max(sinceMs, lostMs - patienceMs) };
  }

  function keep(uid: string, key: ObjectKey, wanted: Wanted): void {
    if (wake === undefined) return;
    const known = entries.get(uid);
    if (known !== undefined) return adapt(known, wanted);
    entries.set(uid, newEntry(uid, key, wanted));
    due.set(uid, time.monotonicMs() + (wanted.isNew ? 0 : spreadMs(uid, wanted.periodMs)));
  }

  function refresh(entry: Entry): void {
    entry.isBodyNeeded = true;
    if (!lanes.has(entry.uid)) due.set(entry.uid, time.monotonicMs());
  }

  function forget(uid: string): void {
    withEntry(uid, quit);
    entries.delete(uid);
    due.cancel(uid);
    losses.cancel(uid);
    bodies.drop(uid);
  }

  function start(wakeKey: (key: ObjectKey) => void): () => void {
    wake = wakeKey;
    return () => {
      wake = undefined;
      lanes.clear();
      for (const uid of entries.keys()) forget(uid);
    };
  }

  return {
    keep,
    refresh: (uid) => withEntry(uid, refresh),
    forget,
    of: (uid) => {
      const entry = entries.get(uid);
      if (entry === undefined) return undefined;
      expire(entry, time.monotonicMs());
      return contactOf(entry, bodies.get(uid));
    },
    source: { name: 'agent cards', start },
    counts: () => ({ agents: entries.size, lanes: lanes.counts, bodyBytes: bodies.size }),
  };
}
