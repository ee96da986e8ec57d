/** Decides by a Lease which replica may write, and makes sure that one which no longer may does not. */

import type { Client } from './client.ts';
import { type Clock, pause } from './clock.ts';
import { isConflict, isNotFound, LostLease, sentenceOf } from './errors.ts';
import { leaseKind, type LeaseObject, newLease, released, taken } from './lease-record.ts';
import type { Metrics } from './metrics.ts';
import type { Log, ObjectKey } from './types.ts';

/** The right to write, as those see it who must have it. */
export interface Leadership {
  readonly isHeld: boolean;
  /** Throws `LostLease` unless the last renewal is younger than the renew deadline by the monotonic clock. Called before each write. */
  assertHeld(): void;
}

export interface LeaderOptions {
  /** A client of its own: renewals must not wait behind other requests. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lease: Required<ObjectKey>;
  /** Unique to this process: pod name and a random part. */
  readonly identity: string;
  /** How long others wait for a holder that is silent, in milliseconds. Default 15,000. */
  readonly durationMs?: number;
  /** How long the holder goes on without a renewal, in milliseconds; less than `durationMs`. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** Between two tries, in milliseconds, a fifth of it random. Default 2,000. */
  readonly retryMs?: number;
  readonly random?: () => number;
  /** The lease is ours from now on. Others may have written until now, also where it was not there: somebody may have deleted it. */
  readonly onHeld: () => void;
  /** It was ours and no longer is, other than by `stop`: everything that writes must end, and the process with it. */
  readonly onLost: (reason: string) => void;
}

export interface LeaderElection extends Leadership {
  start(): void;
  /** Gives the lease back, so that another can take it at once. */
  stop(): Promise<void>;
  /** Why the lease can neither be created nor renewed, while that is so; for health. */
  readonly problem: string | undefined;
  /** Who holds it, as last seen. */
  readonly holder: string | undefined;
}

/** For an install of one replica, and for tests. */
export const alwaysHeld: Leadership = { isHeld: true, assertHeld: () => {} };

/** An election that has not begun. It runs once: after a loss it does not take part again. */
export function createLeaderElection(options: LeaderOptions): LeaderElection {
  const { clock, log, retryMs = 2_000, renewDeadlineMs = 10_000, random = Math.random } = options;
  const stopping = new AbortController();
  const ballot = createBallot(options);
  const isLeader = leaderGauge(options);
  let state: 'standby' | 'held' | 'over' = 'standby';
  let problem: string | undefined;
  let renewedMs = -Infinity;
  let running = Promise.resolve();
  let cancelLoss = (): void => {};

  const isFresh = (): boolean => clock.monotonicMs() - renewedMs < renewDeadlineMs;
  const lose = (reason: string): void => {
    if (state !== 'held') return;
    state = 'over';
    cancelLoss();
    isLeader(false);
    log.error('lease lost', { lease: options.lease.name, reason });
    stopping.abort(new LostLease(reason));
    options.onLost(reason);
  };
  const checkLoss = (): void => {
    if (isFresh()) cancelLoss = clock.after(renewDeadlineMs - (clock.monotonicMs() - renewedMs), checkLoss);
    else lose(`it could not be renewed for ${renewDeadlineMs} ms: ${problem ?? 'no answer'}`);
  };
  const renewed = (sentMs: number): void => {
    // Counted from before the request: others may count from any moment after that.
    renewedMs = sentMs;
    problem = undefined;
    if (state !== 'standby') return;
    state = 'held';
    isLeader(true);
    log.info('lease acquired', { lease: options.lease.name, identity: options.identity });
    checkLoss();
    options.onHeld();
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sentMs = clock.monotonicMs();
      try {
        const isOurs = await ballot.attempt(stopping.signal);
        if (isOurs) renewed(sentMs);
        else lose(`${ballot.holder() ?? 'nobody that is known'} has taken it`);
        if (!isOurs) problem = undefined;
      } catch (error) {
        if (stopping.signal.aborted) return;
        const isNew = problem === undefined;
        problem = sentenceOf(error);
        log[isNew ? 'warn' : 'debug']('lease cannot be created or renewed', {
          reason: problem,
          isHeld: state === 'held',
        });
      }
      await pause(clock, retryMs * (1 + 0.2 * random()), stopping.signal);
    }
  }

  return {
    get isHeld() {
      return state === 'held' && isFresh();
    },
    assertHeld: () => {
      if (state === 'held' && isFresh()) return;
      if (state === 'held') checkLoss();
      throw new LostLease(`no lease that is certainly ours (${state})`);
    },
    get problem() {
      return problem;
    },
    get holder() {
      return ballot.holder();
    },
    start: () => {
      running = run();
    },
    stop: async () => {
      const wasHeld = state === 'held' && isFresh();
      state = 'over';
      cancelLoss();
      isLeader(false);
      stopping.abort(new Error('the election has stopped'));
      await running;
      if (wasHeld) await ballot.giveBack();
    },
  };
}

/** The lease as this process has seen it, and one try at a time to take or renew it. */
function createBallot({ client, clock, log, lease, identity, durationMs = 15_000, ...options }: LeaderOptions) {
  const holder = { identity, durationSeconds: Math.max(1, Math.round(durationMs / 1000)) };
  const deadlineMs = (options.renewDeadlineMs ?? 10_000) / 2;
  let seen: LeaseObject | undefined;
  let seenMs = 0;
  const see = (next: LeaseObject): void => {
    // Only that it changed is known for sure: the time in it is another machine's.
    if (next.metadata.resourceVersion !== seen?.metadata.resourceVersion) seenMs = clock.monotonicMs();
    seen = next;
  };
  const isOurs = (): boolean => seen?.spec?.holderIdentity === identity;
  const isFree = (): boolean => {
    const { holderIdentity = '', leaseDurationSeconds = holder.durationSeconds } = seen?.spec ?? {};
    return holderIdentity === '' || clock.monotonicMs() - seenMs > leaseDurationSeconds * 1000;
  };

  async function read(call: Call): Promise<void> {
    try {
      see(await client.get(leaseKind, lease, call));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      seen = undefined;
    }
  }

  /** False when the lease is not the version that was seen. */
  async function write(call: Call): Promise<boolean> {
    const now = clock.now();
    try {
      if (seen === undefined) see(await client.create(leaseKind, newLease(lease, holder, now), call));
      else see(await client.replace(leaseKind, taken(seen, holder, now), call));
      return true;
    } catch (error) {
      if (isConflict(error) || (isNotFound(error) && seen !== undefined)) return false;
      throw error;
    }
  }

  return {
    holder: () => seen?.spec?.holderIdentity,
    /** One try; true when the lease is ours now. */
    attempt: async (signal: AbortSignal): Promise<boolean> => {
      const call: Call = { signal, deadlineMs, retries: 0 };
      if (!isOurs()) await read(call);
      if (seen !== undefined && !isOurs() && !isFree()) return false;
      if (await write(call)) return true;
      // Somebody wrote in between. If it is still ours (an annotation; our own renewal whose answer was lost), renew that version.
      await read(call);
      return isOurs() && write(call);
    },
    giveBack: async (): Promise<void> => {
      const call: Call = { signal: new AbortController().signal, deadlineMs: 2_000, retries: 0 };
      try {
        // Read again: a renewal that was under way may have been written without us seeing its answer.
        await read(call);
        if (seen !== undefined && isOurs()) await client.replace(leaseKind, released(seen, clock.now()), call);
      } catch (error) {
        log.warn('lease not given back', { reason: sentenceOf(error) });
      }
    },
  };
}

type Call = { readonly signal: AbortSignal; readonly deadlineMs: number; readonly retries: 0 };

function leaderGauge({ metrics, lease }: LeaderOptions): (isLeader: boolean) => void {
  const gauge = metrics.gauge<'name'>({
    name: 'leader_election_master_status',
    help: '1 on the replica that holds the lease, 0 on the others.',
    labels: ['name'],
  });
  gauge.set({ name: lease.name }, 0);
  return (isLeader) => gauge.set({ name: lease.name }, isLeader ? 1 : 0);
}
