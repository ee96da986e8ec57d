/** One agent in the rhythm of being asked: what is wanted, what is remembered, how it behaves, and whether it is being asked now. */

import type { ObjectKey } from '../engine/types.ts';
import type { Contact, Endpoint, Wanted } from './contact.ts';
import type { Lane } from './lanes.ts';
import { isNews, type Memory, type Moment, noMemory, remember } from './memory.ts';
import type { Outcome } from './round.ts';
import { type Experience, found, isOver, mostTurns } from './turns.ts';

/** Changed in place by `contacts.ts` alone. */
export interface Entry {
  readonly uid: string;
  readonly key: ObjectKey;
  wanted: Wanted;
  memory: Memory;
  experience: Experience;
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
  /** Whose turn it is. */
  endpoint: Endpoint;
}

const noExperience: Experience = Object.freeze({ answering: undefined, passedOver: 0 });

export function newEntry(uid: string, key: ObjectKey, wanted: Wanted): Entry {
  const fresh = { lane: 'quick', hung: 0, isBodyNeeded: false, isLost: false, attempt: undefined } as const;
  return { uid, key, wanted, memory: noMemory, experience: noExperience, ...fresh };
}

export function contactOf(entry: Entry, body: Uint8Array | undefined): Contact {
  const { memory, isLost } = entry;
  const { received, failure, answeredAt } = memory;
  const { via } = usual(entry);
  return { received: received === undefined ? undefined : { ...received, body }, failure, answeredAt, isLost, via };
}

/** Marks it as lost when patience is over by now. */
export function expire(entry: Entry, atMs: number): void {
  const { memory, wanted } = entry;
  if (memory.sinceMs !== undefined && atMs - memory.sinceMs >= wanted.patienceMs) entry.isLost = true;
}

/** Takes in what an attempt gave; true when somebody should know. */
export function take(entry: Entry, { fetched, from }: Outcome, moment: Moment): boolean {
  const before = entry.memory;
  entry.memory = remember(before, { fetched, from }, moment);
  const isServed = entry.isBodyNeeded && fetched.kind === 'card';
  const isFound = entry.isLost && fetched.kind !== 'failed';
  if (isServed) entry.isBodyNeeded = false;
  if (isFound) entry.isLost = false;
  return isServed || isFound || isNews(before, entry.memory);
}

/** Who is asked next and how, by how those behaved that were asked. */
export function place(entry: Entry, { from, isHanging }: Outcome, isQuick: boolean): void {
  const { passedOver } = entry.experience;
  entry.experience =
    from === undefined
      ? { ...entry.experience, passedOver: passedOver + mostTurns - 1 }
      : { answering: from, passedOver: 0 };
  entry.hung = isHanging ? entry.hung + 1 : 0;
  entry.lane = isQuick && !isHanging ? 'quick' : isSilent(entry) ? 'silent' : 'slow';
}

/** Its last attempt, if there was one, gave no answer. */
export function isSilent({ experience }: Entry): boolean {
  return experience.answering === undefined || experience.passedOver > 0;
}

/** Whether what is wanted now leaves no point in going on with the one that is asked, or would be next. */
export function hasMoved(entry: Entry, { endpoints }: Wanted): boolean {
  return isOver(entry.attempt?.endpoint ?? usual(entry), entry.wanted.endpoints, endpoints);
}

/** Another address has to show anew how it behaves. */
export function moved(entry: Entry): void {
  entry.lane = 'quick';
  entry.hung = 0;
  entry.experience = noExperience;
  entry.memory = { ...entry.memory, known: undefined };
}

/** What a pod said that is there no more is forgotten: another one may come to its name and address. */
export function want(entry: Entry, wanted: Wanted): void {
  const { memory } = entry;
  entry.wanted = wanted;
  if (memory.known === undefined || found(wanted.endpoints, memory.known.from) !== undefined) return;
  entry.memory = { ...memory, known: undefined };
}

/** Whom an attempt asks first. */
function usual({ experience, wanted }: Entry): Endpoint {
  return experience.answering ?? wanted.endpoints[0];
}
