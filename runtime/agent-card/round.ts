/** One attempt to get a card: a workload's pods are asked one after the other until one answers, all within one deadline. */

import type { FetchReason } from '../api/conditions.ts';
import type { Timekeeper } from './alarms.ts';
import { sentence } from './answer.ts';
import type { Ask, Endpoint, Endpoints, Fetched, Known } from './contact.ts';
import type { Learnt } from './memory.ts';
import { isSamePlace } from './turns.ts';

export interface Round {
  /** In this order. */
  readonly turns: Endpoints;
  /** Told to the pod that said it, and to no other. */
  readonly known: Learnt | undefined;
  readonly signal: AbortSignal;
  readonly time: Timekeeper;
  /** For all of them together, in milliseconds. */
  readonly timeoutMs: number;
  /** Told before each turn; false: that one is there no more and is passed over. */
  readonly begin: (endpoint: Endpoint) => boolean;
}

export interface Outcome {
  /** Of the one that answered; else why the first did not, which does not depend on whose turn it was besides. */
  readonly fetched: Fetched;
  /** The one that answered. */
  readonly from: Endpoint | undefined;
  /** None answered, and of those that were asked one hung or flooded. */
  readonly isHanging: boolean;
}

type Failed = Extract<Fetched, { readonly kind: 'failed' }>;

const hanging: ReadonlySet<FetchReason> = new Set(['Timeout', 'TooLarge']);

/** Of the deadline, for each pod that may still be asked: one that hangs leaves this much to each that comes after it. */
const reservedShare = 1 / 5;

export async function askInTurn(ask: Ask, round: Round): Promise<Outcome> {
  const { turns, signal, time, timeoutMs, begin } = round;
  const endMs = time.monotonicMs() + timeoutMs;
  const failures: Failed[] = [];
  for (const [i, endpoint] of turns.entries()) {
    if (signal.aborted || !begin(endpoint)) continue;
    const known = knownOf(endpoint, round.known);
    const reservedMs = (turns.length - 1 - i) * timeoutMs * reservedShare;
    const leftMs = Math.max(0, endMs - reservedMs - time.monotonicMs());
    const withinMs = turns.length === 1 ? undefined : leftMs;
    const fetched = await oneTurn(ask, { endpoint, known, signal, time, withinMs });
    if (fetched.kind !== 'failed') return { fetched, from: endpoint, isHanging: false };
    failures.push(fetched);
  }
  return { fetched: summary(failures), from: undefined, isHanging: failures.some(({ reason }) => hanging.has(reason)) };
}

function knownOf(endpoint: Endpoint, learnt: Learnt | undefined): Known | undefined {
  if (learnt === undefined || !isSamePlace(endpoint, learnt.from)) return undefined;
  const { path, etag } = learnt;
  return { path, etag };
}

interface Turn extends Pick<Round, 'signal' | 'time'> {
  readonly endpoint: Endpoint;
  readonly known: Known | undefined;
  /** Undefined: the deadline of `ask` is enough. */
  readonly withinMs: number | undefined;
}

async function oneTurn(ask: Ask, { endpoint, known, signal, time, withinMs }: Turn): Promise<Fetched> {
  if (withinMs === undefined) return answer(ask, { endpoint, known, signal });
  const late = new AbortController();
  const cancel = time.after(withinMs, () => late.abort());
  const fetched = await answer(ask, { endpoint, known, signal: AbortSignal.any([signal, late.signal]) });
  cancel();
  if (fetched.kind !== 'failed' || !late.signal.aborted) return fetched;
  // Rounded: the clock has more digits than two attempts have in common, and another message would be news.
  const cause = `gave no complete answer within ${Math.round(withinMs / 100) / 10} s`;
  return { kind: 'failed', reason: 'Timeout', message: sentence(endpoint, '', cause) };
}

interface Asking {
  readonly endpoint: Endpoint;
  readonly known: Known | undefined;
  readonly signal: AbortSignal;
}

/** An `ask` that breaks its word and rejects still ends. */
async function answer(ask: Ask, { endpoint, known, signal }: Asking): Promise<Fetched> {
  try {
    return await ask(endpoint, known, signal);
  } catch (error) {
    return {
      kind: 'failed',
      reason: 'ConnectionFailed',
      message: sentence(endpoint, '', `cannot be asked: ${String(error)}`),
    };
  }
}

function summary([first, ...others]: readonly Failed[]): Failed {
  if (first === undefined) return { kind: 'failed', reason: 'ConnectionFailed', message: 'none of its pods is there' };
  if (others.length === 0) return first;
  const more = others.length === 1 ? 'another of its pods' : `${others.length} more of its pods`;
  return { ...first, message: `${first.message}; ${more} gave no card either` };
}
