/** Writes Kubernetes events beside the work: counted, limited, and never in anybody's way. */

import type { CallOptions, Client } from './client.ts';
import { type Clock, pause } from './clock.ts';
import { ApiError, isNotFound, LostLease, sentenceOf } from './errors.ts';
import {
  eventObject,
  finishedMs,
  type Happening,
  isDue,
  isFinished,
  objectText,
  type Series,
  seriesField,
  seriesKey,
  startSeries,
} from './event-series.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { Metrics } from './metrics.ts';
import type { Kind, KubeObject, Log } from './types.ts';

export interface EventRecorder {
  /** Takes note and returns at once; writes later. Never throws. What `guard` throws right before a write drops the event. */
  record(happening: Happening, guard?: () => void): void;
  /** Resolves when everything taken note of has been written or given up. */
  idle(): Promise<void>;
  /** Takes no more; gives what is waiting a moment (1 s) to be written. */
  stop(): Promise<void>;
}

/** Records nothing. */
export const noEvents: EventRecorder = {
  record: () => {},
  idle: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

export interface EventOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `reportingInstance`: the pod. */
  readonly instance: string;
  /** Between two tries, in milliseconds. Default 10,000, half of it random. */
  readonly retryMs?: number;
}

const eventKind: Kind = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true };
const longestQueue = 1_000;
/** A start of many objects tells of each: one write at a time would lag far behind the work. */
const writers = 8;
const tries = 4;
/** For one object: a burst of 25, then one in five minutes. */
const perObject = { perSecond: 1 / 300, burst: 25 };

/** A recorder with a few writes in flight, never two of one series. What does not fit its bounds is dropped and counted. */
export function createEvents(options: EventOptions): EventRecorder {
  const { clock } = options;
  const memory = createMemory(clock);
  const dropped = droppedCounter(options);
  const stopping = new AbortController();
  const waiting = new Map<Series, (() => void) | undefined>();
  const writing = new Set<Series>();
  const idlers: (() => void)[] = [];
  let isStopped = false;

  function pump(): void {
    for (const [series, guard] of waiting) {
      if (writing.size >= writers) return;
      if (writing.has(series)) continue;
      waiting.delete(series);
      if (isDue(series, clock.monotonicMs())) void write(series, guard);
    }
    if (writing.size === 0) for (const isIdle of idlers.splice(0)) isIdle();
  }

  async function write(series: Series, guard: (() => void) | undefined): Promise<void> {
    writing.add(series);
    const failure = await writeSeries(series, options, { guard, signal: stopping.signal });
    if (failure !== undefined) dropped(failure);
    writing.delete(series);
    pump();
  }

  const idle = (): Promise<void> =>
    waiting.size + writing.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve));

  return {
    record: (happening, guard) => {
      if (isStopped) return;
      const series = memory.count(happening);
      if (series === undefined) return dropped('limited');
      if (!isDue(series, clock.monotonicMs())) return;
      if (waiting.size >= longestQueue) return dropped('full');
      waiting.set(series, guard);
      queueMicrotask(pump);
    },
    idle,
    stop: async () => {
      isStopped = true;
      const cancel = clock.after(1_000, () => stopping.abort(new Error('the recorder has stopped')));
      await idle();
      cancel();
    },
  };
}

/** The series that are still going on, and a token bucket for each object. Both forget what is over. */
function createMemory(clock: Clock) {
  const series = new Map<string, Series>();
  const limits = new Map<string, Limiter>();
  let sweptMs = clock.monotonicMs();
  const sweep = (nowMs: number): void => {
    if (nowMs - sweptMs < finishedMs) return;
    sweptMs = nowMs;
    for (const [key, one] of series) if (isFinished(one, nowMs)) series.delete(key);
    if (limits.size > longestQueue) limits.clear();
  };
  const isAllowed = (object: string): boolean => {
    const limit = limits.get(object) ?? createLimiter(perObject, clock);
    limits.set(object, limit);
    return limit.tryTake();
  };
  return {
    /** The series this belongs to, counted; undefined when its object has said too much. */
    count: (happening: Happening): Series | undefined => {
      const nowMs = clock.monotonicMs();
      sweep(nowMs);
      const key = seriesKey(happening);
      const known = series.get(key);
      if (known !== undefined && !isFinished(known, nowMs)) {
        known.count += 1;
        known.last = clock.now();
        known.lastMs = nowMs;
        return known;
      }
      if (!isAllowed(objectText(happening.regarding))) return undefined;
      const fresh = startSeries(happening, clock.now(), nowMs);
      series.set(key, fresh);
      return fresh;
    },
  };
}

type EventCall = Pick<CallOptions, 'guard'> & { readonly signal: AbortSignal };

/** Creates the event, or brings its count up to date. Returns why it was given up, if it was. */
async function writeSeries(series: Series, options: EventOptions, call: EventCall): Promise<string | undefined> {
  const { clock, log, retryMs = 10_000 } = options;
  for (let attempt = 1; ; attempt += 1) {
    const { count } = series;
    try {
      await send(series, options, call);
      series.writtenCount = count;
      series.writtenMs = clock.monotonicMs();
      return undefined;
    } catch (error) {
      // Expired on the server: the next time it happens is a new event.
      if (isNotFound(error)) series.writtenCount = 0;
      const isFinal = error instanceof LostLease || isRefusal(error) || call.signal.aborted || attempt >= tries;
      if (isFinal) {
        log.debug('event given up', { reason: sentenceOf(error), event: series.happening.notice.reason, attempt });
        return error instanceof ApiError ? String(error.status) : 'unreachable';
      }
      await pause(clock, retryMs * (0.5 + 0.5 * Math.random()), call.signal);
    }
  }
}

async function send(series: Series, { client, instance }: EventOptions, call: EventCall): Promise<KubeObject> {
  const event = eventObject(series, instance);
  if (series.writtenCount === 0) return client.create(eventKind, event, call);
  const { namespace, name = '' } = event.metadata;
  return client.mergePatch({ kind: eventKind, namespace, name }, seriesField(series), call);
}

/** Trying again will not help: not allowed, namespace ending, expired event, or invalid. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

function droppedCounter({ metrics }: EventOptions): (cause: string) => void {
  const dropped = metrics.counter<'cause'>({
    name: 'events_dropped_total',
    help: 'Kubernetes events that were not written, by cause.',
    labels: ['cause'],
  });
  return (cause) => dropped.inc({ cause });
}
