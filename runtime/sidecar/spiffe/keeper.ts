/** Keeps the pod's identity: asks the SPIRE agent, takes what it gives, and asks again whenever that ends. */

import { type BackOff, delayMs } from '../../engine/back-off.ts';
import { type Clock, pause } from '../../engine/clock.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import type { Ending, WorkloadApi } from './client.ts';
import { type Identity, type IdentityState, type Known, readyLine, stateAt, timeText } from './identity.ts';
import { createJwtCache } from './jwt-cache.ts';
import { readJwtSvid } from './jwt-svid.ts';
import { identityMeters } from './meters.ts';
import { isSvidRefusal, readX509Svid, type X509Svid } from './svid.ts';

/** Who the pod is to Kubernetes: what an entry in SPIRE selects it by. */
export interface PodNames {
  readonly namespace: string;
  readonly serviceAccount: string;
}

export interface KeeperOptions {
  /** `run` closes it at its end. */
  readonly api: WorkloadApi;
  /** The trust domain an SVID must be of (`SPIFFE_TRUST_DOMAIN`); undefined: any. */
  readonly trustDomain: string | undefined;
  readonly pod: PodNames;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Uniform in [0, 1). Default: the machine's. */
  readonly random?: () => number;
}

export interface IdentityKeeper {
  readonly identity: Identity;
  /** Asks until `signal` is aborted; never rejects. Once. */
  run(signal: AbortSignal): Promise<void>;
}

/** Starts anew with every message: an agent that gives something is not overloaded. Asking one on the same node costs little, and a pod may be waiting to serve. */
const backOff: BackOff = { baseMs: 1_000, capMs: 5_000, jitter: 0.5 };

/** Asks nothing before `run`. */
export function createIdentityKeeper(options: KeeperOptions): IdentityKeeper {
  const { api, clock, random = Math.random } = options;
  const memory = createMemory(options);
  const cached = createJwtCache({
    clock,
    owner: memory.spiffeId,
    ask: (audiences) => jwt(options, memory, audiences),
  });
  return {
    identity: {
      get state() {
        return memory.state();
      },
      subscribe: memory.subscribe,
      jwt: (...audiences) => cached(audiences),
    },
    async run(signal) {
      let failures = 0;
      const take = (bytes: Uint8Array): void => {
        failures = 0;
        memory.take(bytes);
      };
      while (!signal.aborted) {
        const ending = await api.x509Svids(take, signal);
        if (!signal.aborted) memory.lose(ending);
        await pause(clock, delayMs(backOff, failures++, random), signal);
      }
      api.close();
      memory.stop();
    },
  };
}

/** Only for an identity that is held: it is the one that was found to be of the right trust domain. */
async function jwt({ api, clock, pod }: KeeperOptions, memory: Memory, audiences: readonly string[]) {
  const state = memory.state();
  if (state.kind !== 'held') return readyLine(state) ?? 'no SPIFFE identity';
  const { spiffeId } = state.svid;
  const answer = await api.jwtSvid(audiences, spiffeId);
  if ('kind' in answer) return sentenceOf(answer, pod);
  return readJwtSvid(answer, { audiences, spiffeId, now: clock.now().getTime() });
}

function sentenceOf({ kind, sentence }: Ending, { namespace, serviceAccount }: PodNames): string {
  if (kind !== 'no-entry') return sentence;
  const pod = `this pod (namespace ${namespace}, service account ${serviceAccount})`;
  return `the SPIRE agent knows no entry for ${pod}; it needs a ClusterSPIFFEID or a registration entry that selects it`;
}

type Memory = ReturnType<typeof createMemory>;

/** What is known, who follows it, and the one timer that tells them when it ends. */
function createMemory({ trustDomain, pod, clock, log, metrics }: KeeperOptions) {
  const meters = identityMeters(metrics, clock);
  const listeners = new Set<(state: IdentityState) => void>();
  const begun = clock.now();
  let known: Known = { begun, svid: undefined, came: begun, fault: undefined };
  let cancelEnd = (): void => {};
  meters.connected(false);
  const state = (): IdentityState => stateAt(known, clock.now());

  function become(next: Known): void {
    known = next;
    for (const listener of listeners) {
      try {
        listener(state());
      } catch (error) {
        log.error('a listener to the SPIFFE identity failed', { error });
      }
    }
  }

  /** A timer may be shorter than it was set for, and the wall clock may have been changed meanwhile. */
  function awaitEnd(svid: X509Svid): void {
    cancelEnd();
    cancelEnd = clock.after(svid.notAfter + 1 - clock.now().getTime(), () => {
      if (state().kind === 'held') return awaitEnd(svid);
      log.error('SPIFFE identity ended', { spiffeId: svid.spiffeId, reason: known.fault });
      return become(known);
    });
  }

  function fail(fault: string, words: string): void {
    if (fault === known.fault) return;
    log.warn(words, { reason: fault, held: known.svid?.spiffeId });
    become({ ...known, fault });
  }

  return {
    state,
    spiffeId: () => known.svid?.spiffeId,
    subscribe: (listener: (state: IdentityState) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    take(bytes: Uint8Array): void {
      meters.connected(true);
      const read = readX509Svid(bytes, trustDomain);
      if (isSvidRefusal(read)) {
        meters.refused(read.reason);
        return fail(`what the SPIRE agent gives cannot be used: ${read.detail}`, 'X.509-SVID refused');
      }
      meters.taken(read.notAfter);
      log.info('SPIFFE identity taken', { spiffeId: read.spiffeId, notAfter: timeText(new Date(read.notAfter)) });
      for (const warning of read.warnings) log.warn('part of a trust bundle left out', { warning });
      become({ ...known, svid: read, came: clock.now(), fault: undefined });
      return awaitEnd(read);
    },
    lose(ending: Ending): void {
      meters.connected(ending.kind === 'no-entry' || ending.kind === 'failed');
      fail(sentenceOf(ending, pod), 'no SPIFFE identity from the agent');
    },
    stop: () => cancelEnd(),
  };
}
