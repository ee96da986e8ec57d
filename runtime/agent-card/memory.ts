/** What is remembered of one agent, and what an answer changes in it: pure. */

import { sha256Hex } from '../encoding/digest.ts';
import type { Contact, Fetched, Known } from './contact.ts';

export interface Memory {
  readonly received: { readonly hash: string; readonly path: string } | undefined;
  /** For the endpoint that is asked. */
  readonly known: Known | undefined;
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

/** A failure forgets no document; a 304 ends a failure as a card does. */
export function remember(memory: Memory, fetched: Fetched, { now, atMs }: Moment): Memory {
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
    known: etag === undefined ? undefined : { path, etag },
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
