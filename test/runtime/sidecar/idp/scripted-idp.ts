/** An identity provider that says what a test tells it to, when the test says so. */

import type { Answer, IdpClient, NoAnswer, Question } from '../../../../runtime/sidecar/idp/fetch.ts';

export interface ScriptedIdp extends IdpClient {
  readonly asked: readonly Question[];
  /** Answers from now on; a function answers each question anew. */
  say(next: Said | ((question: Question) => Said | Promise<Said>)): void;
}

export type Said = Answer | NoAnswer;

export const answer = (body: string | Uint8Array, status = 200, more: Partial<Answer> = {}): Answer => ({
  kind: 'answer',
  status,
  contentType: 'application/json',
  retryAfterSeconds: undefined,
  body: Buffer.from(body),
  ...more,
});

export const json = (value: unknown, status = 200): Answer => answer(JSON.stringify(value), status);

export const refusesConnections: NoAnswer = { kind: 'no-answer', reason: 'unreachable', why: 'refuses connections' };

export function scriptedIdp(first: Said = refusesConnections): ScriptedIdp {
  const asked: Question[] = [];
  let next: Parameters<ScriptedIdp['say']>[0] = first;
  return {
    asked,
    say: (said) => void (next = said),
    ask: async (question) => {
      asked.push(question);
      return typeof next === 'function' ? next(question) : next;
    },
    close: async () => undefined,
  };
}
