/** Keeps one collection of the API server mirrored in a sink: lists it, watches it, and begins again whenever anything breaks. */

import { type BackOff, delayMs, watchBackOff } from './back-off.ts';
import { type Client, eachPage, type ListOptions } from './client.ts';
import { type Clock, pause } from './clock.ts';
import { ApiError, ApiUnreachable, isExpired, sentenceOf } from './errors.ts';
import { MalformedLine } from './lines.ts';
import type { Metrics } from './metrics.ts';
import type { Announcement, Revival } from './revival.ts';
import type { Kind, KubeObject, Log } from './types.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

/** Where the mirror image is kept. */
export interface Sink<T extends KubeObject> {
  /** A complete view begins. */
  beginView(): void;
  show(object: T): void;
  hide(object: T): void;
  /** What was not shown since `beginView` is gone. */
  endView(): void;
}

/**
 * `waiting`: no complete view yet; `synced`: there has been one; `unavailable`: the kind is not served (404) or may not be read (403).
 * A reason beside `synced` says that the view is not being kept up at the moment.
 */
export interface ReflectorState {
  readonly phase: 'waiting' | 'synced' | 'unavailable';
  readonly reason?: string | undefined;
}

export interface WatchTimings {
  readonly backOff: BackOff;
  /** A watch that lasted this long was healthy: the back-off starts anew. */
  readonly healthyMs: number;
  /** Without a byte for this long a watch counts as dead. The API server sends a bookmark every minute, the first after up to two. */
  readonly idleMs: number;
  /** How long the API server lets a watch live: random between the two, so that watches do not all end together. */
  readonly timeoutSeconds: readonly [number, number];
  /** Deadline of a list request and of a watch's first byte, in milliseconds. */
  readonly answerMs: number;
}

/** Bound for a connection that dies without a word: two HTTP/2 pings (30 s), else `idleMs`; plus one back-off. */
export const defaultTimings: WatchTimings = {
  backOff: watchBackOff,
  healthyMs: 10_000,
  idleMs: 180_000,
  timeoutSeconds: [300, 600],
  answerMs: 60_000,
};

/** What the API server has been found to serve; shared by the reflectors of one cache. */
export interface ServerTraits {
  /** Lists as a stream (`sendInitialEvents`). Taken for granted until refused. */
  streamsLists: boolean;
  readonly revival: Revival;
}

export interface ReflectorOptions<T extends KubeObject> {
  /** The watch's id, for logs and metrics. */
  readonly id: string;
  readonly kind: Kind<T>;
  readonly select: Pick<ListOptions, 'namespace' | 'labels' | 'fields' | 'metadataOnly'>;
  readonly sink: Sink<T>;
  readonly onState: (state: ReflectorState) => void;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly timings: WatchTimings;
  readonly traits: ServerTraits;
  readonly random: () => number;
}

export interface Reflector {
  /** Begins a complete view at once, whatever it does at the moment. */
  refresh(): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

/** Runs until `signal` is aborted; `ended` never rejects. It does one thing at a time, so one restart at most is ever in flight. */
export function reflect<T extends KubeObject>(options: ReflectorOptions<T>, signal: AbortSignal): Reflector {
  let refreshing = new AbortController();
  const next = (): Turn => {
    refreshing = new AbortController();
    return { signal: AbortSignal.any([signal, refreshing.signal]), isOver: () => refreshing.signal.aborted };
  };
  return {
    ended: run(options, signal, next),
    refresh: () => refreshing.abort(new Error('a new view is asked for')),
  };
}

/** From one `refresh` to the next. */
interface Turn {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
}

async function run<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
  nextTurn: () => Turn,
): Promise<void> {
  const { clock, timings, random } = options;
  const mirror = createMirror(options);
  const meter = reflectorMeter(options);
  let turn = nextTurn();
  let failures = 0;
  let last: unknown;
  while (!signal.aborted) {
    if (turn.isOver()) {
      // Only here, where no event of the former stream can come any more.
      mirror.forget();
      turn = nextTurn();
      failures = 0;
    }
    const begun = clock.monotonicMs();
    const failure = await outcomeOf(mirror.follow(turn.signal));
    if (signal.aborted) return;
    if (turn.isOver()) continue;
    const lasted = clock.monotonicMs() - begun;
    if (lasted >= timings.healthyMs) failures = 0;
    if (failure === undefined && lasted >= 1_000) continue;
    if (isRefusedStreaming(failure) && options.traits.streamsLists) {
      options.traits.streamsLists = false;
      continue;
    }
    // An expired version is an answer: what an outage has made of the back-off does not count against it.
    if (isExpired(failure) && !isExpired(last)) failures = 0;
    last = failure;
    const wait = Math.max(delayMs(timings.backOff, failures, random), retryAfterOf(failure));
    failures += 1;
    meter(causeOf(failure));
    report(options, { failure, failures, wait, isSynced: mirror.isSynced() });
    if (mirror.wasAnswered() || !isOutage(failure)) await pause(clock, wait, turn.signal);
    else if (isNews(await options.traits.revival.pause(wait, turn.signal), failure)) failures = 0;
  }
}

async function outcomeOf(run: Promise<void>): Promise<unknown> {
  try {
    await run;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The mirror's memory: the version it has come to. `follow` goes on from there until something ends it. */
function createMirror<T extends KubeObject>(options: ReflectorOptions<T>) {
  const { client, kind, select, sink, timings, traits } = options;
  const [shortest, longest] = timings.timeoutSeconds;
  let resourceVersion: string | undefined;
  let isSynced = false;
  let wasAnswered = false;
  const onComplete = (): void => {
    sink.endView();
    isSynced = true;
    options.onState({ phase: 'synced' });
  };

  async function list(signal: AbortSignal): Promise<void> {
    const call = { ...select, signal, deadlineMs: timings.answerMs, retries: 0 };
    const version = await eachPage(client, kind, call, {
      begin: () => sink.beginView(),
      take: (items) => items.forEach((item) => sink.show(item)),
    });
    resourceVersion = version;
    onComplete();
  }

  function onEvent(event: WatchEvent<T>): void {
    if (event.type === 'shown') sink.show(event.object);
    else if (event.type === 'hidden') sink.hide(event.object);
    else if (resourceVersion === undefined && event.isViewComplete) {
      resourceVersion = event.resourceVersion;
      onComplete();
    }
    // A view that is not complete is no place to resume from.
    if (resourceVersion !== undefined) resourceVersion = event.resourceVersion;
  }

  return {
    isSynced: () => isSynced,
    /** The last `follow` got as far as an open stream. */
    wasAnswered: () => wasAnswered,
    /** The next `follow` begins with a complete view. */
    forget: () => (resourceVersion = undefined),
    follow: async (signal: AbortSignal) => {
      wasAnswered = false;
      if (resourceVersion === undefined && !traits.streamsLists) await list(signal);
      const initialEvents = resourceVersion === undefined;
      if (initialEvents) sink.beginView();
      const timeoutSeconds = Math.round(shortest + (longest - shortest) * options.random());
      const call = { ...select, deadlineMs: timings.answerMs, retries: 0 };
      try {
        await readWatch({
          client,
          kind,
          clock: options.clock,
          idleMs: timings.idleMs,
          signal,
          onEvent,
          request: { ...call, resourceVersion, initialEvents, timeoutSeconds },
          onOpen: () => {
            wasAnswered = true;
            traits.revival.announce('answered');
            if (isSynced) options.onState({ phase: 'synced' });
          },
        });
      } catch (error) {
        if (isExpired(error)) resourceVersion = undefined;
        throw error;
      }
    },
  };
}

/** An API server that does not stream lists calls the parameters invalid. */
function isRefusedStreaming(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/**
 * No answer, or one that a server gives which is only just starting (5xx; 401, 403 and 404 before its rights and kinds are loaded): the
 * answer another watch gets is a reason to ask again. Not for a stream that opened and broke, or watches would wake each other for ever.
 */
function isOutage(error: unknown): boolean {
  if (error instanceof ApiUnreachable) return true;
  if (!(error instanceof ApiError) || error.retryAfterMs !== undefined) return false;
  return error.status >= 500 || error.status === 401 || error.status === 403 || error.status === 404;
}

/**
 * Whether the back-off begins anew, since what is announced may be a moment away yet: a kind is served only a little after its definition is
 * there, a server that answers again knows rights only after a while. What was refused, or failed in the server, by itself goes on as it was.
 */
function isNews(announced: Announcement | undefined, failure: unknown): boolean {
  return announced === 'there' || (announced === 'answered' && failure instanceof ApiUnreachable);
}

function retryAfterOf(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
}

function causeOf(error: unknown): string {
  if (error === undefined) return 'ended';
  if (error instanceof ApiError) return isExpired(error) ? 'expired' : String(error.status);
  if (error instanceof MalformedLine) return 'malformed';
  return error instanceof ApiUnreachable ? 'unreachable' : 'broken';
}

interface Failed {
  readonly failure: unknown;
  readonly failures: number;
  readonly wait: number;
  readonly isSynced: boolean;
}

/** One line when it begins to matter, the rest at debug: a watch that lives is restarted now and then, and that is no news. */
function report<T extends KubeObject>(
  options: ReflectorOptions<T>,
  { failure, failures, wait, isSynced }: Failed,
): void {
  const isUnavailable = failure instanceof ApiError && (failure.status === 403 || failure.status === 404);
  const reason = failure === undefined ? 'the watch ended at once' : sentenceOf(failure);
  if (isUnavailable) options.onState({ phase: 'unavailable', reason });
  else options.onState({ phase: isSynced ? 'synced' : 'waiting', reason });
  const fields = { watch: options.id, namespace: options.select.namespace, failures, waitMs: Math.round(wait), reason };
  if (failures === 3 || (isUnavailable && failures === 1)) options.log.warn('watch does not work', fields);
  else options.log.debug('watch restarts', fields);
}

function reflectorMeter<T extends KubeObject>({ id, metrics }: ReflectorOptions<T>): (cause: string) => void {
  const restarts = metrics.counter<'watch' | 'cause'>({
    name: 'watch_restarts_total',
    help: 'Watches that had to be begun again, by cause; ends in good order are not counted.',
    labels: ['watch', 'cause'],
  });
  return (cause) => restarts.inc({ watch: id, cause });
}
