/** One agent in the rhythm of being asked: what is wanted, what is remembered, how it behaves, and whether it is being asked now. */

import type { FetchReason } from '../api/conditions.ts';
import type { ObjectKey } from '../engine/types.ts';
import type { Contact, Endpoint, Fetched, Wanted } from './contact.ts';
import type { Lane } from './lanes.ts';
import { isNews, type Memory, type Moment, noMemory, remember } from './memory.ts';

/** Changed in place by `contacts.ts` alone. */
export interface Entry {
  readonly uid: string;
  readonly key: ObjectKey;
  wanted: Wanted;
  memory: Memory;
  lane: Lane;
  /** Attempts in a row that ended by the deadline or by a size limit. */
  hung: number;
  /** Somebody needs the body: no ETag is sent until one has come. */
  isBodyNeeded: boolean;
  /** No answer came in time; from then on only an answer ends it, however long patience has become. */
  isLost: boolean;
  attempt: Attempt | undefined;
}

/** One request under way. */
export interface Attempt {
  readonly abort: AbortController;
  /** Begun, on the monotonic clock. */
  readonly atMs: number;
}

export function newEntry(uid: string, key: ObjectKey, wanted: Wanted): Entry {
  const fresh = { lane: 'quick', hung: 0, isBodyNeeded: false, isLost: false, attempt: undefined } as const;
  return { uid, key, wanted, memory: noMemory, ...fresh };
}

export function contactOf({ memory, isLost }: Entry, body: Uint8Array | undefined): Contact {
  const { received, failure, answeredAt } = memory;
  return { received: received === undefined ? undefined : { ...received, body }, failure, answeredAt, isLost };
}

/** Marks it as lost when patience is over by now. */
export function expire(entry: Entry, atMs: number): void {
  const { memory, wanted } = entry;
  if (memory.sinceMs !== undefined && atMs - memory.sinceMs >= wanted.patienceMs) entry.isLost = true;
}

/** Takes in what an attempt gave; true when somebody should know. */
export function take(entry: Entry, fetched: Fetched, moment: Moment): boolean {
  const before = entry.memory;
  entry.memory = remember(before, fetched, moment);
  const isServed = entry.isBodyNeeded && fetched.kind === 'card';
  const isFound = entry.isLost && fetched.kind !== 'failed';
  if (isServed) entry.isBodyNeeded = false;
  if (isFound) entry.isLost = false;
  return isServed || isFound || isNews(before, entry.memory);
}

const hanging: ReadonlySet<FetchReason> = new Set(['Timeout', 'TooLarge']);

/** How it is asked next, by how it behaved. */
export function place(entry: Entry, fetched: Fetched, isQuick: boolean): void {
  const isHanging = fetched.kind === 'failed' && hanging.has(fetched.reason);
  entry.hung = isHanging ? entry.hung + 1 : 0;
  entry.lane = isQuick && !isHanging ? 'quick' : 'slow';
}

/** Another address has to show anew how it behaves. */
export function moved(entry: Entry): void {
  entry.lane = 'quick';
  entry.hung = 0;
  entry.memory = { ...entry.memory, known: undefined };
}

/** `via` is for people. */
export function isSamePlace(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port && a.host === b.host;
}
