/** Puts the parts together: caches on every replica, controllers on the one that holds the lease, each as soon as it can work. */

import type { Cache } from './cache.ts';
import type { WatchState } from './cached-watch.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import { controllerViews } from './controller-views.ts';
import { type ControllerRun, createControllerRun } from './controller.ts';
import { sentenceOf } from './errors.ts';
import type { EventRecorder } from './events.ts';
import { hasFinalizer } from './finalizer.ts';
import type { LeaderElection } from './leader.ts';
import type { Metrics } from './metrics.ts';
import { keyOf } from './store.ts';
import type { Controller, Log, ObjectKey, Watch } from './types.ts';

export interface ManagerOptions {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  /** Makes the election with the manager's callbacks. Absent: this process writes without asking anybody. */
  readonly election?: (on: ElectionCallbacks) => LeaderElection;
  /** The lease is lost and every controller has been stopped: the process must end. */
  readonly onLost: (reason: string) => void;
  /** How long a stop waits for passes under way, in milliseconds. Default 10,000. */
  readonly drainMs?: number;
  /** Most time for one pass, in milliseconds. Default 60,000. */
  readonly reconcileMs?: number;
}

export interface ElectionCallbacks {
  /** Nothing is decided by what was read before: a former leader may have written since. */
  readonly onHeld: () => void;
  readonly onLost: (reason: string) => void;
}

/**
 * `standby`: another replica holds the lease; `waiting`: ours, but a watch it needs has no complete view, or none since the lease is ours (the
 * reason says which and why); `running`; `stopped`.
 */
export interface ControllerState {
  readonly name: string;
  readonly state: 'standby' | 'waiting' | 'running' | 'stopped';
  readonly reason?: string | undefined;
}

export interface ManagerHealth {
  /** Every watch has been answered, with a view or with a refusal. */
  readonly isReady: boolean;
  readonly watches: readonly WatchState[];
  readonly controllers: readonly ControllerState[];
  readonly lease: {
    readonly isHeld: boolean;
    readonly holder?: string | undefined;
    readonly problem?: string | undefined;
  };
}

export interface Manager {
  /** Before `start`. */
  addController(controller: Controller): void;
  /** Begins to watch and to stand for the lease; resolves when every watch has been answered or 30 s have passed. */
  start(): Promise<void>;
  /**
   * For an install that is taken down: every controller takes back what it brought about, as the deletion of all its objects would, and takes
   * its finalizer off; the objects stay. Nothing is brought about from then on. Resolves when all is done or `withinMs` have passed, to the
   * number of objects that still carry a finalizer.
   */
  letGo(withinMs: number): Promise<number>;
  /** Takes no more work, lets passes end, writes the last events, gives the lease back, ends the watches. */
  stop(): Promise<void>;
  health(): ManagerHealth;
  /** Wakes a key of a running controller; false when it is not running. */
  wake(controller: string, key: ObjectKey): boolean;
}

/** How long the first answers are waited for. A watch without an answer then keeps only its own controllers waiting. */
const answersMs = 30_000;

export function createManager(options: ManagerOptions): Manager {
  const { cache, log, events } = options;
  const ending = new AbortController();
  const seats: Seat[] = [];
  let isHeld = false;
  let sinceMs = -Infinity;
  let isStopped = false;
  let isLettingGo = false;

  const begin = (): void => {
    isHeld = true;
    for (const seat of seats) void seat.begin();
  };
  const onHeld = (): void => {
    sinceMs = options.clock.monotonicMs();
    begin();
  };
  const onLost = (reason: string): void => {
    isHeld = false;
    ending.abort(new Error(`the lease is lost: ${reason}`));
    for (const seat of seats) void seat.end(0);
    options.onLost(reason);
  };
  const election = options.election?.({ onHeld, onLost });
  const guard = (): void => election?.assertHeld();

  return {
    addController: (controller) => {
      cache.rememberOwner(controller.fieldManager);
      seats.push(
        createSeat(controller, {
          ...options,
          guard,
          signal: ending.signal,
          isHeld: () => isHeld,
          sinceMs: () => sinceMs,
          isLettingGo: () => isLettingGo,
        }),
      );
    },
    start: async () => {
      for (const { watches } of seats) watches.forEach((watch) => cache.start(watch));
      await answered(options);
      if (isStopped) return;
      if (election === undefined) begin();
      else election.start();
      log.info('manager started', { controllers: seats.map(({ name }) => name) });
    },
    letGo: async (withinMs) => {
      isLettingGo = true;
      for (const seat of seats) seat.wakeAll();
      return settled(() => seats.reduce((sum, seat) => sum + seat.held, 0), options.clock, withinMs);
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(seats.map((seat) => seat.end(options.drainMs ?? 10_000)));
      await events.stop();
      await election?.stop();
      isHeld = false;
      await cache.stop();
      log.info('manager stopped');
    },
    health: () => ({
      isReady: cache.states().every(({ phase }) => phase !== 'waiting'),
      watches: cache.states(),
      controllers: seats.map((seat) => seat.state()),
      lease: { isHeld: election?.isHeld ?? isHeld, holder: election?.holder, problem: election?.problem },
    }),
    wake: (name, key) => seats.find((seat) => seat.name === name)?.wake(key) ?? false,
  };
}

/** Resolves when no watch waits for its first answer, or after a while. */
function answered({ cache, clock }: ManagerOptions): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (cache.states().some(({ phase }) => phase === 'waiting')) return;
      end();
    };
    const end = (): void => {
      cancel();
      unsubscribe();
      resolve();
    };
    const cancel = clock.after(answersMs, end);
    const unsubscribe = cache.onState(check);
    check();
  });
}

const settledMs = 100;

/** Resolves when nothing is left, or after `withinMs`, to what is left then. */
function settled(left: () => number, clock: Clock, withinMs: number): Promise<number> {
  const end = clock.monotonicMs() + withinMs;
  return new Promise((resolve) => {
    const check = (): void => {
      const now = left();
      if (now === 0 || clock.monotonicMs() >= end) resolve(now);
      else clock.after(settledMs, check);
    };
    check();
  });
}

/** One controller's place in the manager. */
interface Seat {
  readonly name: string;
  readonly watches: readonly Watch[];
  begin(): Promise<void>;
  end(drainMs: number): Promise<void>;
  state(): ControllerState;
  wake(key: ObjectKey): boolean;
  /** Wakes every object it has. */
  wakeAll(): void;
  /**
   * Objects with its finalizer; without one, keys not yet done with. Of one that waits: the objects too, since nobody lets go of them, and 1 where
   * it may yet begin and nobody knows what it will find.
   */
  readonly held: number;
}

interface SeatOptions extends ManagerOptions {
  readonly isLettingGo: () => boolean;
  readonly guard: () => void;
  readonly signal: AbortSignal;
  readonly isHeld: () => boolean;
  /** What it decides by must have been read at this moment of the monotonic clock or later. */
  readonly sinceMs: () => number;
}

function createSeat(controller: Controller, options: SeatOptions): Seat {
  const { cache, log, isHeld, sinceMs } = options;
  const { name } = controller;
  const views = controllerViews(controller, cache);
  const isRunning = runningGauge(options, name);
  let run: ControllerRun | undefined;
  let isEnded = false;

  /** Whether it waits for nothing but answers that are on their way. */
  const mayStart = (): boolean => isHeld() && !isEnded && !views.isRefused;

  return {
    name,
    watches: views.watches,
    begin: async () => {
      const why = views.needed();
      if (why !== undefined) log.warn('controller waits', { controller: name, reason: why });
      await views.fresh(sinceMs());
      if (isEnded || run !== undefined || !isHeld()) return;
      run = createControllerRun({ ...options, controller, deadlineMs: options.reconcileMs });
      try {
        run.start();
        isRunning(true);
        log.info('controller started', { controller: name });
        const without = views.missing();
        if (without !== undefined) log.warn('controller works without a watch', { controller: name, reason: without });
      } catch (error) {
        log.error('controller cannot start', { controller: name, reason: sentenceOf(error), err: error });
      }
    },
    end: async (drainMs) => {
      isEnded = true;
      isRunning(false);
      await run?.stop(drainMs);
    },
    state: () => {
      if (isEnded) return { name, state: 'stopped' };
      const reason = views.missing();
      if (run !== undefined) return { name, state: 'running', reason };
      return isHeld()
        ? { name, state: 'waiting', reason: reason ?? views.old(sinceMs()) }
        : { name, state: 'standby', reason };
    },
    wake: (key) => {
      run?.wake(key);
      return run !== undefined;
    },
    wakeAll: () => {
      if (run === undefined) return;
      for (const object of cache.list(controller.primary)) run.wake(keyOf(object));
    },
    get held() {
      const { primary, finalizer } = controller;
      const isReadable = run !== undefined || cache.isFresh(primary, -Infinity);
      const carrying =
        finalizer !== undefined && isReadable
          ? cache.list(primary).filter((object) => hasFinalizer(object, finalizer)).length
          : 0;
      if (run === undefined) return Math.max(carrying, mayStart() ? 1 : 0);
      return finalizer === undefined ? run.pending : carrying;
    },
  };
}

function runningGauge({ metrics }: ManagerOptions, controller: string): (isRunning: boolean) => void {
  const gauge = metrics.gauge<'controller'>({
    name: 'controller_running',
    help: '1 while the controller works; 0 on a replica without the lease, and while a watch it needs is not available.',
    labels: ['controller'],
  });
  gauge.set({ controller }, 0);
  return (isRunning) => gauge.set({ controller }, isRunning ? 1 : 0);
}
