/** Keeps the issuer's keys: fetched in the background, again when a token names one that is not known, and held through outages. */

import { type BackOff, delayMs } from '../../engine/back-off.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import type { IdpClient } from '../idp/fetch.ts';
import { untilAborted } from '../idp/until-aborted.ts';
import { type KeySet, readKeySet } from './jwks.ts';

export interface KeeperOptions {
  /** Where the keys are. It need not be the issuer's own address: that is compared with tokens and never asked. */
  readonly url: string;
  readonly client: IdpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Between two looks that go well. Default 300,000. */
  readonly refreshMs?: number;
  /** How long keys serve after they were last fetched. Default 3,600,000. */
  readonly maxAgeMs?: number;
  /** Least time between two fetches for keys that tokens named and nobody knew. Default 30,000. */
  readonly coolDownMs?: number;
  /** Of one fetch. Default 5,000. */
  readonly timeoutMs?: number;
}

/** `none`: there are no keys to check with; `why` is a sentence for the administrator. */
export type Keys = ({ readonly kind: 'held' } & KeySet) | { readonly kind: 'none'; readonly retryAfterSeconds: number };

export interface Keeper {
  /** Fetches, and goes on doing so. */
  start(): void;
  /** The keys as they are known. Waits for a fetch under way only when there are none. */
  keys(signal: AbortSignal): Keys | Promise<Keys>;
  /**
   * For a token whose key is not among them: fetches again, unless that was done just now. `doubtful`: the issuer did not answer, so that
   * the key may well be there.
   */
  refetched(signal: AbortSignal): Promise<{ readonly keys: Keys; readonly isDoubtful: boolean }>;
  /** Why no token can be checked now, in a sentence; undefined: they can. */
  outage(): string | undefined;
  /** What is wrong though tokens are still checked. */
  degraded(): string | undefined;
  stop(): void;
}

const retries: BackOff = { baseMs: 1_000, capMs: 30_000, jitter: 0.5 };
const refreshJitter = 0.1;

interface State {
  held: { readonly keys: KeySet; readonly atMs: number } | undefined;
  fault: string | undefined;
  failures: number;
  inFlight: Promise<void> | undefined;
  cooledAtMs: number;
  nextAtMs: number;
  cancel: () => void;
  isStopped: boolean;
}

/** Nothing is fetched before `start`. Fetches are shared: no request's end ends one. */
export function createKeeper(options: KeeperOptions): Keeper {
  const { clock, refreshMs = 300_000, maxAgeMs = 3_600_000, coolDownMs = 30_000 } = options;
  const state: State = {
    held: undefined,
    fault: undefined,
    failures: 0,
    inFlight: undefined,
    cooledAtMs: -Infinity,
    nextAtMs: 0,
    cancel: () => undefined,
    isStopped: false,
  };
  const meter = keysMeter(options.metrics, () => ageSeconds(state, clock));

  function fetchShared(): Promise<void> {
    state.cancel();
    state.inFlight ??= fetchOnce();
    return state.inFlight;
  }

  async function fetchOnce(): Promise<void> {
    const outcome = await fetchKeys(options);
    state.inFlight = undefined;
    settle(outcome);
    scheduleNext();
  }

  function settle(outcome: Outcome): void {
    meter.fetched('keys' in outcome);
    if ('keys' in outcome) {
      const isNew = outcome.keys.fingerprint !== state.held?.keys.fingerprint;
      if (isNew || state.fault !== undefined)
        options.log.info('issuer keys fetched', { url: options.url, count: outcome.keys.count, isNew });
      state.held = { keys: outcome.keys, atMs: clock.monotonicMs() };
      state.fault = undefined;
      state.failures = 0;
      return;
    }
    if (outcome.problem !== state.fault)
      options.log.warn('issuer keys could not be fetched', { url: options.url, why: outcome.problem });
    state.fault = outcome.problem;
    state.failures += 1;
  }

  function scheduleNext(): void {
    if (state.isStopped) return;
    const ms =
      state.fault === undefined
        ? refreshMs * (1 - refreshJitter * Math.random())
        : delayMs(retries, state.failures - 1, Math.random);
    state.nextAtMs = clock.monotonicMs() + ms;
    state.cancel = clock.after(ms, () => void fetchShared());
  }

  function known(): Keys {
    const { held } = state;
    if (held !== undefined && clock.monotonicMs() - held.atMs <= maxAgeMs) return { kind: 'held', ...held.keys };
    return { kind: 'none', retryAfterSeconds: Math.max(1, Math.ceil((state.nextAtMs - clock.monotonicMs()) / 1000)) };
  }

  const outage = (): string | undefined => {
    if (known().kind === 'held') return undefined;
    const since = state.held === undefined ? 'never were' : `are older than ${maxAgeMs / 60_000} min`;
    return `no token can be checked: the issuer's keys ${since} fetched: ${options.url} ${state.fault ?? 'has not answered yet'}`;
  };

  return {
    start: () => void fetchShared(),
    keys: (signal) => {
      const keys = known();
      if (keys.kind === 'held' || state.inFlight === undefined) return keys;
      return untilAborted(state.inFlight, signal).then(known);
    },
    refetched: async (signal) => {
      const now = clock.monotonicMs();
      if (state.inFlight !== undefined || now - state.cooledAtMs >= coolDownMs) {
        if (state.inFlight === undefined) state.cooledAtMs = now;
        await untilAborted(fetchShared(), signal);
      }
      return { keys: known(), isDoubtful: state.fault !== undefined };
    },
    outage,
    degraded: () => {
      if (state.fault === undefined || outage() !== undefined) return undefined;
      const minutes = Math.round((ageSeconds(state, clock) ?? 0) / 60);
      return `the issuer's keys are ${minutes} min old and serve for ${maxAgeMs / 60_000} min: ${options.url} ${state.fault}`;
    },
    stop: () => {
      state.isStopped = true;
      state.cancel();
    },
  };
}

type Outcome = { readonly keys: KeySet } | { readonly problem: string };

async function fetchKeys({ client, url, timeoutMs = 5_000 }: KeeperOptions): Promise<Outcome> {
  const answer = await client.ask({ method: 'GET', url, timeoutMs });
  if (answer.kind === 'no-answer') return { problem: answer.why };
  if (answer.status !== 200) return { problem: `answers with status ${answer.status}` };
  return readKeySet(answer.body);
}

function ageSeconds({ held }: State, clock: Clock): number | undefined {
  return held === undefined ? undefined : (clock.monotonicMs() - held.atMs) / 1000;
}

function keysMeter(metrics: Metrics, age: () => number | undefined) {
  const total = metrics.counter<'result'>({
    name: 'rossoctl_sidecar_jwks_fetches_total',
    help: "Fetches of the issuer's keys, by result.",
    labels: ['result'],
  });
  metrics.gauge({
    name: 'rossoctl_sidecar_jwks_age_seconds',
    help: "Seconds since the issuer's keys were last fetched; -1 before the first time.",
    collect: (gauge) => gauge.set({}, age() ?? -1),
  });
  return { fetched: (isGood: boolean) => total.inc({ result: isGood ? 'success' : 'failure' }) };
}
