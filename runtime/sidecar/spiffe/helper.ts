/** The role `spiffe-helper`: the pod's identity as files for an application, kept up as long as the container runs. */

import { delayMs } from '../../engine/back-off.ts';
import { type Clock, pause, systemClock } from '../../engine/clock.ts';
import { sentenceOf } from '../../engine/errors.ts';
import type { Health } from '../../engine/health.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import { createWorkloadApi } from './client.ts';
import { clearSvidFiles, endOfSvidFiles, type SvidFiles, writeSvidFiles } from './files.ts';
import { degradedLine, type Identity, type IdentityState, readyLine } from './identity.ts';
import type { JwtAnswer } from './jwt-cache.ts';
import { createIdentityKeeper, type PodNames } from './keeper.ts';

export interface SpiffeHelperSettings {
  /** Of the Workload API, as `workloadApiSocket` reads it from `SPIFFE_ENDPOINT_SOCKET`. */
  readonly socketPath: string;
  /** `SPIFFE_TRUST_DOMAIN`; undefined: an SVID of any trust domain will do. */
  readonly trustDomain: string | undefined;
  readonly pod: PodNames;
  /** `SVID_DIR`: a folder that is there and can be written. */
  readonly directory: string;
  /** All in one JWT-SVID; none: no `jwt_svid.token`. */
  readonly audiences: readonly string[];
}

export interface HelperParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * Runs until `signal` is aborted; never rejects. `readyz` is good while an SVID is held that has not ended and its files are written. At the end the
 * files stay: the container may come back, and they are good until the SVID ends.
 */
export async function runSpiffeHelper(
  settings: SpiffeHelperSettings,
  parts: HelperParts,
  signal: AbortSignal,
): Promise<void> {
  const { log, metrics, health, clock = systemClock } = parts;
  const { trustDomain, pod } = settings;
  const api = createWorkloadApi(settings.socketPath);
  const keeper = createIdentityKeeper({ api, trustDomain, pod, clock, log, metrics });
  const following = { log, clock, identity: keeper.identity };
  const writer = createWriter(settings, following);
  const removals = [
    health.ready('svid-files', () => fileLine(keeper.identity.state, settings) ?? writer.fault()),
    health.degraded('spiffe-identity', () => degradedLine(keeper.identity.state)),
    health.degraded('jwt-svid', () => writer.tokenFault()),
  ];
  await Promise.all([keeper.run(signal), keepWriting(writer, following, signal)]);
  for (const remove of removals) remove();
}

function fileLine(state: IdentityState, { directory }: SpiffeHelperSettings): string | undefined {
  const line = readyLine(state);
  return state.kind === 'expired' ? `${line}; its files are taken out of ${directory}` : line;
}

const backOff = { baseMs: 1_000, capMs: 30_000, jitter: 0 };
/** Look again at least this often, in milliseconds: the wall clock may have been changed. */
const longestMs = 60_000;

interface Following {
  readonly log: Log;
  readonly clock: Clock;
  readonly identity: Identity;
}

/** One turn at each change of the identity, and when time asks for one. */
async function keepWriting(writer: Writer, { log, clock, identity }: Following, signal: AbortSignal): Promise<void> {
  let changed = new AbortController();
  const unsubscribe = identity.subscribe(() => changed.abort());
  let failures = 0;
  let told: string | undefined;
  while (!signal.aborted) {
    changed = new AbortController();
    const turn = await writer.turn();
    const failed = typeof turn === 'string';
    if (failed && turn !== told) log.error('SVID files cannot be written', { reason: turn });
    told = failed ? turn : undefined;
    const ms = failed ? delayMs(backOff, failures++, () => 0) : turn;
    if (!failed) failures = 0;
    await pause(clock, Math.min(ms, longestMs), AbortSignal.any([signal, changed.signal]));
  }
  unsubscribe();
}

type Writer = ReturnType<typeof createWriter>;

/** Makes the folder say what the identity is. */
function createWriter({ directory, audiences }: SpiffeHelperSettings, { log, clock, identity }: Following) {
  let written: string | undefined;
  let failure: string | undefined;
  let tokenFault: string | undefined;

  /** Milliseconds until time alone asks for another turn. */
  async function write(): Promise<number> {
    const { state } = identity;
    if (state.kind !== 'held') return clearEnded();
    const token = audiences.length === 0 ? undefined : await identity.jwt(...audiences);
    tokenFault = token !== undefined && 'unavailable' in token ? `no JWT-SVID: ${token.unavailable}` : undefined;
    const files = filesOf(state, token);
    const text = JSON.stringify(files);
    if (text !== written) {
      await writeSvidFiles(directory, files);
      log.info('SVID files written', { directory, spiffeId: state.svid.spiffeId });
    }
    written = text;
    return waitMs(token, clock.now().getTime());
  }

  /** What a run before this one left is good until its end, too. */
  async function clearEnded(): Promise<number> {
    const end = await endOfSvidFiles(directory);
    const leftMs = end === undefined ? longestMs : end + 1 - clock.now().getTime();
    if (leftMs > 0) return leftMs;
    await clearSvidFiles(directory);
    written = undefined;
    log.error('SVID files removed: they had ended', { directory });
    return longestMs;
  }

  return {
    /** Why the folder does not hold an SVID of this run, a sentence without a full stop. */
    fault: () => failure ?? (written === undefined ? `the SVID files in ${directory} are not written yet` : undefined),
    tokenFault: () => tokenFault,
    /** Milliseconds until time alone asks for another turn; a sentence when it failed. */
    async turn(): Promise<number | string> {
      try {
        const ms = await write();
        failure = undefined;
        return ms;
      } catch (error) {
        failure = `the SVID files in ${directory} cannot be written: ${sentenceOf(error)}`;
        return failure;
      }
    },
  };
}

function filesOf({ svid }: Extract<IdentityState, { kind: 'held' }>, token: JwtAnswer | undefined): SvidFiles {
  const { chainPem: chain, keyPem: key, bundle } = svid;
  const files = { chain, key, bundle: bundle.pem };
  return token === undefined || 'unavailable' in token ? files : { ...files, token: token.token };
}

/** A token that is due is renewed while the old one is given out, so it is looked at again soon. */
function waitMs(token: JwtAnswer | undefined, now: number): number {
  if (token === undefined) return longestMs;
  return 'unavailable' in token ? 5_000 : Math.max(1_000, token.renewAt - now);
}
