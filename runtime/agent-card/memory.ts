/** What is remembered of one agent, and what an answer changes in it: pure. */

import { sha256Hex } from '../encoding/digest.ts';
import type { Contact, Endpoint, Fetched, Known } from './contact.ts';

/** What one pod said, which says nothing about any other. */
export interface Learnt extends Known {
  readonly from: Endpoint;
}

export interface Memory {
  readonly received: { readonly hash: string; readonly path: string } | undefined;
  readonly known: Learnt | undefined;
  readonly failure: Contact['failure'];
  readonly answeredAt: Date | undefined;
  /** Of the last answer with a card, else of the first attempt, on the monotonic clock; undefined: there was none. */
  readonly sinceMs: number | undefined;
}

export const noMemory: Memory = Object.freeze({
  received: undefined,
  known: undefined,
  failure: undefined,
  answeredAt: undefined,
  sinceMs: undefined,
});

export interface Moment {
  readonly now: Date;
  readonly atMs: number;
}

/** What was fetched, and of whom; undefined: nobody answered. */
export interface Heard {
  readonly fetched: Fetched;
  readonly from: Endpoint | undefined;
}

/** A failure forgets no document; a 304 ends a failure as a card does. */
export function remember(memory: Memory, { fetched, from }: Heard, { now, atMs }: Moment): Memory {
  if (fetched.kind === 'failed') {
    const { reason, message } = fetched;
    return { ...memory, failure: { reason, message } };
  }
  const answered = { ...memory, failure: undefined, answeredAt: now, sinceMs: atMs };
  if (fetched.kind === 'unchanged') return answered;
  const { body, path, etag } = fetched;
  return {
    ...answered,
    received: { hash: sha256Hex(body), path },
    known: etag === undefined || from === undefined ? undefined : { path, etag, from },
  };
}

/** Another document, another failure, or none any more. Not: a success as before, the same failure again. */
export function isNews(before: Memory, after: Memory): boolean {
  return (
    before.received?.hash !== after.received?.hash ||
    before.received?.path !== after.received?.path ||
    before.failure?.reason !== after.failure?.reason ||
    before.failure?.message !== after.failure?.message
  );
}
