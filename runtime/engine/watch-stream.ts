/** One watch request from its first byte to its end: its events, its silence, its errors. */

import { watchFailure } from './api-failure.ts';
import { type Client, objectOfKind, type WatchOptions } from './client.ts';
import type { Clock } from './clock.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { createLineParser, MalformedLine } from './lines.ts';
import { collectionPath } from './paths.ts';
import type { Kind, KubeObject } from './types.ts';

/** What a watch says: an object is there, is gone, or only how far the watch has come. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'shown'; readonly object: T; readonly resourceVersion: string }
  | { readonly type: 'hidden'; readonly object: T; readonly resourceVersion: string }
  | { readonly type: 'bookmark'; readonly isViewComplete: boolean; readonly resourceVersion: string };

export interface WatchStream<T extends KubeObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly request: WatchOptions;
  readonly clock: Clock;
  /** Silence after which the stream counts as dead, in milliseconds. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
  onOpen(): void;
  onEvent(event: WatchEvent<T>): void;
}

/** Resolves when the API server ends the watch in good order; throws for everything else. */
export async function readWatch<T extends KubeObject>(stream: WatchStream<T>): Promise<void> {
  const { client, kind, request } = stream;
  const silence = watchSilence(stream);
  const parse = createLineParser((value) => stream.onEvent(eventOf(kind, request, value)));
  try {
    const chunks = await client.watch(kind, { ...request, signal: silence.signal });
    silence.heard();
    stream.onOpen();
    for await (const chunk of chunks) {
      silence.heard();
      parse(chunk);
    }
  } catch (error) {
    if (silence.isSilent()) client.dropConnections();
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.end();
  }
}

/** Aborts a stream that says nothing for too long, or that outlives the time the API server was given to end it. */
function watchSilence<T extends KubeObject>({ clock, idleMs, request, signal: outer }: WatchStream<T>) {
  const controller = new AbortController();
  const longestMs = request.timeoutSeconds * 1000 + 30_000;
  const begun = clock.monotonicMs();
  let heardAt = begun;
  let isSilent = false;
  let cancel = (): void => {};
  const check = (): void => {
    const now = clock.monotonicMs();
    const leftMs = Math.min(heardAt + idleMs, begun + longestMs) - now;
    if (leftMs > 0) {
      cancel = clock.after(leftMs, check);
      return;
    }
    isSilent = true;
    controller.abort(new Error(`the watch was silent for ${Math.round(now - heardAt)} ms`));
  };
  const follow = (): void => controller.abort(outer.reason);
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  check();
  return {
    signal: controller.signal,
    isSilent: () => isSilent,
    heard: () => (heardAt = clock.monotonicMs()),
    end: () => {
      cancel();
      outer.removeEventListener('abort', follow);
      // Frees the request's stream when the reader was the one to stop.
      if (!controller.signal.aborted) controller.abort(new Error('the watch has ended'));
    },
  };
}

function eventOf<T extends KubeObject>(kind: Kind<T>, request: WatchOptions, value: unknown): WatchEvent<T> {
  const { type, object } = isObject(value) ? value : {};
  if (type === 'ERROR') throw watchFailure(object, `WATCH ${collectionPath(kind, request.namespace)}`);
  const resourceVersion = member(object, 'metadata', 'resourceVersion');
  if (!isObject(object) || typeof resourceVersion !== 'string') throw new MalformedLine('an event without a version');
  if (type === 'BOOKMARK') return { type: 'bookmark', isViewComplete: isEndOfInitialEvents(object), resourceVersion };
  if (typeof member(object, 'metadata', 'name') !== 'string') throw new MalformedLine('an event without a name');
  if (type === 'ADDED' || type === 'MODIFIED') {
    return { type: 'shown', object: objectOfKind(kind, object), resourceVersion };
  }
  if (type === 'DELETED') return { type: 'hidden', object: objectOfKind(kind, object), resourceVersion };
  throw new MalformedLine('an event of an unknown type');
}

function isEndOfInitialEvents(object: JsonObject): boolean {
  return member(object, 'metadata', 'annotations', 'k8s.io/initial-events-end') === 'true';
}
