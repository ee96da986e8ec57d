/** A queue of keys: each waits once however often it is added, is worked on by one worker at a time, and backs off by itself. */

import { type BackOff, delayMs, keyBackOff } from './back-off.ts';
import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

export interface Queue {
  /** Due now. A key being worked on is worked on once more afterwards. Ignored after `stop`. */
  add(key: string): void;
  /** Due after `ms`; the earliest deadline of a key wins. */
  addAfter(key: string, ms: number): void;
  /** Due after the key's back-off, which this lengthens. Returns the delay in milliseconds. */
  retry(key: string): number;
  /** The key succeeded: its back-off starts anew. */
  forget(key: string): void;
  /** Keys due and not yet begun. */
  readonly depth: number;
  /** Begins to work. Keys added before have waited. */
  start(): void;
  /** Takes no more keys and drops those waiting; resolves when no key is being worked on. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  /** The metrics' label. */
  readonly name: string;
  /** Keys worked on at once. */
  readonly concurrency: number;
  /** Works on one key. Must not reject: what it rejects with is given to `onBug`. */
  readonly work: (key: string) => Promise<void>;
  readonly onBug: (key: string, error: unknown) => void;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly random?: () => number;
  /** Default: 5 ms doubling to 5 minutes. */
  readonly backOff?: BackOff;
}

/** A queue that holds keys until `start`. First in, first out, so that a key which returns at once cannot starve others. */
export function createQueue(options: QueueOptions): Queue {
  const { clock, backOff = keyBackOff, random = Math.random } = options;
  const meter = queueMeter(options);
  /** Keys due, in order, with the time they became so. */
  const due = new Map<string, number>();
  const working = new Set<string>();
  /** Added again while being worked on. */
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const timers = createTimers(clock, (key) => add(key));
  let state: 'held' | 'running' | 'stopped' = 'held';
  let onIdle = (): void => {};

  function add(key: string): void {
    if (state === 'stopped') return;
    timers.cancel(key);
    if (due.has(key) || again.has(key)) return;
    meter.added();
    if (working.has(key)) again.add(key);
    else {
      due.set(key, clock.monotonicMs());
      meter.depth(due.size);
      pump();
    }
  }

  function pump(): void {
    if (state !== 'running') return;
    for (const [key, since] of due) {
      if (working.size >= options.concurrency) return;
      due.delete(key);
      working.add(key);
      meter.depth(due.size);
      meter.waited(clock.monotonicMs() - since);
      void workOn(key);
    }
  }

  async function workOn(key: string): Promise<void> {
    const begun = clock.monotonicMs();
    try {
      await options.work(key);
    } catch (error) {
      options.onBug(key, error);
    }
    meter.worked(clock.monotonicMs() - begun);
    working.delete(key);
    if (again.delete(key) && state !== 'stopped') {
      due.set(key, clock.monotonicMs());
      meter.depth(due.size);
    }
    pump();
    if (working.size === 0) onIdle();
  }

  const addAfter = (key: string, ms: number): void => {
    if (ms <= 0) add(key);
    else if (state !== 'stopped' && !due.has(key)) timers.set(key, ms);
  };

  return {
    add,
    addAfter,
    retry: (key) => {
      const attempt = failures.get(key) ?? 0;
      failures.set(key, attempt + 1);
      meter.retried();
      const ms = delayMs(backOff, attempt, random);
      addAfter(key, ms);
      return ms;
    },
    forget: (key) => void failures.delete(key),
    get depth() {
      return due.size;
    },
    start: () => {
      if (state === 'held') state = 'running';
      pump();
    },
    stop: () => {
      state = 'stopped';
      timers.clear();
      due.clear();
      again.clear();
      failures.clear();
      meter.depth(0);
      return working.size === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve));
    },
  };
}

interface Timers {
  set(key: string, ms: number): void;
  cancel(key: string): void;
  clear(): void;
}

/** One timer a key; a later deadline never replaces an earlier one. */
function createTimers(clock: Clock, fire: (key: string) => void): Timers {
  const waiting = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const cancel = (key: string): void => {
    waiting.get(key)?.cancel();
    waiting.delete(key);
  };
  return {
    set: (key, ms) => {
      const at = clock.monotonicMs() + ms;
      const known = waiting.get(key);
      if (known !== undefined && known.at <= at) return;
      cancel(key);
      waiting.set(key, { at, cancel: clock.after(ms, () => (waiting.delete(key), fire(key))) });
    },
    cancel,
    clear: () => {
      for (const key of waiting.keys()) cancel(key);
    },
  };
}

/** The names that dashboards made for controller-runtime know. */
function queueMeter({ name, metrics }: QueueOptions) {
  const labels = { name };
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Keys waiting in the queue.', labels: ['name'] });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys added.', labels: ['name'] });
  const waits = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Seconds a key waited.',
    labels: ['name'],
  });
  const works = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'Seconds one pass took.',
    labels: ['name'],
  });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys put back with a back-off.',
    labels: ['name'],
  });
  return {
    depth: (keys: number) => depth.set(labels, keys),
    added: () => adds.inc(labels),
    waited: (ms: number) => waits.observe(labels, ms / 1000),
    worked: (ms: number) => works.observe(labels, ms / 1000),
    retried: () => retries.inc(labels),
  };
}
