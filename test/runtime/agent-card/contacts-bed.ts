/** Contacts on a clock that stands still, and agents that behave as told. */

import { type AttemptResult, type ContactsOptions, createContacts } from '../../../runtime/agent-card/contacts.ts';
import type { Ask, Endpoint, Fetched, Known, Wanted } from '../../../runtime/agent-card/contact.ts';
import type { Reader } from '../../../runtime/engine/types.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

export interface Asked {
  readonly host: string;
  readonly known: Known | undefined;
  readonly atMs: number;
}

/** What an agent gives, after how long; it ends at once when the call is aborted. */
export interface Behaviour {
  readonly afterMs: number;
  readonly fetched: Fetched;
}

export const card = (text: string, etag?: string): Fetched => ({
  kind: 'card',
  body: Buffer.from(text),
  path: '/.well-known/agent-card.json',
  ...(etag === undefined ? {} : { etag }),
});

export const failed = (reason: 'Timeout' | 'TooLarge' | 'NotJSON' | 'ConnectionFailed', message = reason): Fetched => ({
  kind: 'failed',
  reason,
  message,
});

export const quick = (fetched: Fetched): Behaviour => ({ afterMs: 5, fetched });
export const hangs: Behaviour = { afterMs: 10_000, fetched: failed('Timeout') };

export function endpoint(host: string, address = '10.0.0.1'): Endpoint {
  return { pod: host, revision: '1', address, port: 8080, host, via: 'Service weather, port a2a' };
}

export function wanted(host: string, more: Partial<Wanted> = {}): Wanted {
  return { endpoints: [endpoint(host)], periodMs: 30_000, patienceMs: 90_000, isNew: true, ...more };
}

export interface Bed {
  readonly clock: FakeClock;
  readonly contacts: ReturnType<typeof createContacts>;
  readonly asked: Asked[];
  /** Names of the keys that were woken. */
  readonly woken: string[];
  readonly attempts: AttemptResult[];
  /** Calls under way. */
  readonly open: () => number;
  readonly stop: () => void;
  readonly start: () => () => void;
  /** Keeps the card `uid`, whose agent has the same name. */
  readonly keep: (uid: string, more?: Partial<Wanted>) => void;
  /** What was woken since the last call. */
  readonly news: () => readonly string[];
}

export function bed(behave: (host: string, asked: number) => Behaviour, options: Partial<ContactsOptions> = {}): Bed {
  const clock = fakeClock();
  const asked: Asked[] = [];
  const woken: string[] = [];
  const attempts: AttemptResult[] = [];
  const counts = new Map<string, number>();
  let open = 0;
  const ask: Ask = ({ host }, known, signal) => {
    asked.push({ host, known, atMs: clock.monotonicMs() });
    counts.set(host, (counts.get(host) ?? 0) + 1);
    const { afterMs, fetched } = behave(host, counts.get(host) ?? 0);
    open += 1;
    return new Promise((resolve) => {
      const end = (result: Fetched): void => {
        signal.removeEventListener('abort', abort);
        cancel();
        open -= 1;
        resolve(result);
      };
      const abort = (): void => end(failed('Timeout'));
      const cancel = clock.after(afterMs, () => end(fetched));
      signal.addEventListener('abort', abort);
    });
  };
  const contacts = createContacts({ ask, time: clock, onAttempt: (result) => attempts.push(result), ...options });
  const start = () => contacts.source.start(({ name }) => woken.push(name), undefined as unknown as Reader);
  const stop = start();
  return {
    clock,
    contacts,
    asked,
    woken,
    attempts,
    open: () => open,
    stop,
    start,
    keep: (uid, more) => contacts.keep(uid, { namespace: 'team1', name: uid }, wanted(uid, more)),
    news: () => woken.splice(0),
  };
}
