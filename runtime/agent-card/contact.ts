/** The words between the fetching of cards and the decisions about them: types only. */

import type { FetchReason } from '../api/conditions.ts';
import type { ObjectKey, Source } from '../engine/types.ts';

/** A pod that is asked for its workload's card. Always an address, never a name: no DNS answer decides whom we call. */
export interface Endpoint {
  /** Its name, for people. */
  readonly pod: string;
  /** Which revision of the workload it is of; empty for a kind that has none. */
  readonly revision: string;
  /** IPv4 or IPv6 address of the pod. */
  readonly address: string;
  readonly port: number;
  /** Sent as the `Host` header: `weather.team1.svc:8080`. */
  readonly host: string;
  /** How it was found, for people: `Service weather, port a2a`. */
  readonly via: string;
}

/** At least one; those of the newest revision come first. */
export type Endpoints = readonly [Endpoint, ...Endpoint[]];

/** What asking once gave. */
export type Fetched =
  | { readonly kind: 'card'; readonly body: Uint8Array; readonly path: string; readonly etag?: string }
  /** 304: as before. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: FetchReason; readonly message: string };

/** The answer that is known already. An ETag says something only about the pod and the path that gave it. */
export interface Known {
  readonly path: string;
  readonly etag: string;
}

/** Asks an agent once, for as long as `signal` is not aborted. Never rejects. */
export type Ask = (endpoint: Endpoint, known: Known | undefined, signal: AbortSignal) => Promise<Fetched>;

/** A document as it was received last. */
export interface Received {
  /** Absent when it is larger than what is kept between passes: it must be asked for again before it can be judged anew. */
  readonly body: Uint8Array | undefined;
  /** SHA-256 of the body, hex. */
  readonly hash: string;
  /** The well-known path that answered. */
  readonly path: string;
}

/** What is known of one agent since this process began to ask it. */
export interface Contact {
  readonly received?: Received | undefined;
  /** Why the last attempt failed. Absent: it succeeded, or none has ended yet. */
  readonly failure?: { readonly reason: FetchReason; readonly message: string } | undefined;
  /** When an agent last answered with a card, by the wall clock; absent: never. */
  readonly answeredAt?: Date | undefined;
  /**
   * There was no answer with a card for as long as `Wanted.patienceMs`, counted from the last one, or from the first attempt. Only an answer
   * ends it: more patience comes too late.
   */
  readonly isLost: boolean;
  /** How the pod that answered last was found; where none has, how the first was. */
  readonly via?: string | undefined;
}

/** What a card wants to be asked. */
export interface Wanted {
  /** The pods that may be asked. */
  readonly endpoints: Endpoints;
  readonly periodMs: number;
  readonly patienceMs: number;
  /** The first fetch is due at once; otherwise it is spread over the period (a restart must not ask everybody at the same moment). */
  readonly isNew: boolean;
}

/** Asks agents for their cards, each in its own rhythm, from the start of its source to its stop; stopped, it forgets everything. */
export interface Contacts {
  /**
   * Idempotent. When the pod that is asked is not among the endpoints any more, or others are of a newer revision, another is asked at once,
   * without the old one's ETag.
   */
  keep(uid: string, key: ObjectKey, wanted: Wanted): void;
  /** Asks once more, now and without ETag: somebody needs the body. Wakes the key when it has come, also for the same document. */
  refresh(uid: string): void;
  forget(uid: string): void;
  of(uid: string): Contact | undefined;
  /** Wakes a key when its contact changed: another document, another failure, recovered, or lost. Never for a success as before. */
  readonly source: Source;
}
