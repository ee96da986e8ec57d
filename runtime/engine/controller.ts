/** Runs one controller: changes wake keys, a queue hands them to passes, failures back off. */

import type { Clock } from './clock.ts';
import { createDeadline } from './deadline.ts';
import { isConflict, isOtherUid, LostLease, sentenceOf } from './errors.ts';
import { type ControllerMeter, controllerMeter } from './meters.ts';
import type { Metrics } from './metrics.ts';
import { keyText } from './paths.ts';
import { createQueue, type Queue } from './queue.ts';
import { createReconcile, type Outcome, type Reconcile, type ReconcileWorld } from './reconcile.ts';
import { keyOf } from './store.ts';
import type { Controller, KubeObject, Log, ObjectKey } from './types.ts';
import { isWakened } from './wake.ts';

export interface ControllerRun {
  /** Begins to work: every watch must have had its first complete view. */
  start(): void;
  /** Wakes one key as a change would; what it has failed before counts no more. */
  wake(key: ObjectKey): void;
  /** Takes no more keys, waits for the passes under way for at most `drainMs`, then aborts them. */
  stop(drainMs: number): Promise<void>;
  /** Keys due, and keys begun that have not come to an end yet: passes under way, those that failed, those that wait for the cache. */
  readonly pending: number;
}

export interface ControllerOptions extends ReconcileWorld {
  readonly controller: Controller;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ends every pass at once when aborted: the lease is lost. */
  readonly signal: AbortSignal;
  /** Most time for one pass, in milliseconds. Default 60,000. */
  readonly deadlineMs?: number | undefined;
}

/** While the cache is older than our own last write. */
const behindMs = 25;

/** A controller that does nothing before `start`. */
export function createControllerRun(options: ControllerOptions): ControllerRun {
  const { controller, clock } = options;
  const aborting = new AbortController();
  const meter = controllerMeter(options.metrics, controller.name, controller.concurrency ?? 4);
  const failures = createFailureLog(options.log.child({ controller: controller.name }));
  const reconcile = createReconcile(controller, options);
  const abort = (): void => aborting.abort(options.signal.reason);
  if (options.signal.aborted) abort();
  else options.signal.addEventListener('abort', abort, { once: true });
  let active = 0;
  const unfinished = new Set<string>();
  let unsubscribe: readonly (() => void)[] = [];

  const work = async (key: string): Promise<void> => {
    active += 1;
    unfinished.add(key);
    meter.active(active);
    const begun = clock.monotonicMs();
    const outcome = await passOver(key, { reconcile, options, signal: aborting.signal });
    meter.took(clock.monotonicMs() - begun);
    active -= 1;
    meter.active(active);
    if (outcome.type === 'done' || outcome.type === 'gone') unfinished.delete(key);
    settle(key, outcome, { queue, meter, failures });
  };
  const queue: Queue = createQueue({
    name: controller.name,
    concurrency: controller.concurrency ?? 4,
    work,
    onBug: (key, error) => options.log.error('pass broke', { controller: controller.name, key, err: error }),
    clock,
    metrics: options.metrics,
  });

  return {
    start: () => {
      unsubscribe = subscribe(options, (key) => queue.add(keyText(key)));
      queue.start();
    },
    wake: (key) => {
      queue.forget(keyText(key));
      queue.add(keyText(key));
    },
    stop: async (drainMs) => {
      for (const end of unsubscribe) end();
      const cancel = clock.after(drainMs, () => aborting.abort(new Error('the controller stops')));
      await queue.stop();
      cancel();
      options.signal.removeEventListener('abort', abort);
    },
    get pending() {
      return queue.depth + unfinished.size;
    },
  };
}

/** Primary objects, triggers and sources all end in keys. */
function subscribe(options: ControllerOptions, wake: (key: ObjectKey) => void): readonly (() => void)[] {
  const { controller, cache } = options;
  const primary = cache.subscribe(controller.primary, (change) => {
    const object: KubeObject | undefined = change.now ?? change.old;
    if (object !== undefined && isWakened(controller.wakeOn, change)) wake(keyOf(object));
  });
  const triggers = controller.triggers.map((trigger) =>
    cache.subscribe(trigger.watch, (change) => trigger.affects(change, cache).forEach(wake)),
  );
  const sources = (controller.sources ?? []).map((source) => source.start(wake, cache));
  return [primary, ...triggers, ...sources];
}

type Settled = Outcome | { readonly type: 'failed'; readonly error: unknown } | { readonly type: 'lost' };

interface PassScope {
  readonly reconcile: Reconcile;
  readonly options: { readonly clock: Clock; readonly deadlineMs?: number | undefined };
  readonly signal: AbortSignal;
}

async function passOver(key: string, { reconcile, options, signal }: PassScope): Promise<Settled> {
  const deadline = createDeadline(options.clock, signal, options.deadlineMs ?? 60_000);
  try {
    return await reconcile(key, deadline.signal);
  } catch (error) {
    return error instanceof LostLease || signal.aborted ? { type: 'lost' } : { type: 'failed', error };
  } finally {
    deadline.end();
  }
}

interface Settling {
  readonly queue: Queue;
  readonly meter: ControllerMeter;
  readonly failures: FailureLog;
}

function settle(key: string, outcome: Settled, { queue, meter, failures }: Settling): void {
  switch (outcome.type) {
    case 'done':
    case 'gone':
      queue.forget(key);
      failures.over(key);
      if (outcome.type === 'done' && outcome.afterMs !== undefined) {
        queue.addAfter(key, outcome.afterMs);
        return meter.result('requeue_after');
      }
      return meter.result('success');
    case 'behind':
      queue.addAfter(key, behindMs);
      return meter.result('requeue_after');
    case 'lost':
      // The process is stopping; the next holder of the lease sees every key.
      return meter.result('requeue');
    default:
  }
  const waitMs = queue.retry(key);
  if (isConflict(outcome.error) || isOtherUid(outcome.error)) return meter.result('requeue');
  meter.result('error');
  failures.failed(key, outcome.error, waitMs);
}

interface FailureLog {
  failed(key: string, error: unknown, waitMs: number): void;
  over(key: string): void;
}

/** A failure is told when it is new, when it stays and when it is over; never once a pass (RC-02). */
function createFailureLog(log: Log): FailureLog {
  const counts = new Map<string, { readonly reason: string; readonly count: number }>();
  return {
    failed: (key, error, waitMs) => {
      const reason = sentenceOf(error);
      const known = counts.get(key);
      const count = (known?.count ?? 0) + 1;
      counts.set(key, { reason, count });
      const fields = { key, reason, err: error, failures: count, retryMs: Math.round(waitMs) };
      if (count === 12) log.error('reconcile keeps failing', fields);
      else if (count === 5) log.warn('reconcile still fails', fields);
      else if (known?.reason === reason) log.debug('reconcile failed again', fields);
      else log.info('reconcile failed', fields);
    },
    over: (key) => {
      const count = counts.get(key)?.count ?? 0;
      counts.delete(key);
      if (count >= 5) log.info('reconcile works again', { key, failures: count });
    },
  };
}
