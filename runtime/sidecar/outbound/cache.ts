/** Holds fetched tokens for exactly those who may have them: full key, no longer than either token lives, one fetch at a time. */

import type { Clock } from '../../engine/clock.ts';
import type { Metrics } from '../../engine/types.ts';
import { sha256Hex } from '../../encoding/digest.ts';
import { createLru } from '../../signature/lru.ts';
import { untilAborted } from '../idp/until-aborted.ts';
import type { FetchToken } from './fetch.ts';
import type { TokenWish } from './token-request.ts';
import type { TokenOutcome } from './token-response.ts';

export interface TokenCacheOptions {
  readonly fetchToken: FetchToken;
  /** Who the agent is to the issuer now; tokens made for another are not found. */
  readonly clientId: () => string;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Characters of all tokens together. Default 8,388,608. */
  readonly mostCharacters?: number;
  /** Different tokens that are fetched at once; more are refused. Default 256. */
  readonly mostFetches?: number;
}

/** The outcome for a wish; undefined when the signal ended first. The fetch goes on for those who wait for the same. */
export type TokenFor = (wish: TokenWish, signal: AbortSignal) => TokenOutcome | Promise<TokenOutcome | undefined>;

interface Entry {
  readonly outcome: TokenOutcome;
  /** Monotonic. From here on it is fetched anew, while it still serves. */
  readonly refreshAtMs: number;
  readonly untilMs: number;
}

/** A token is handed out only while it has this left, or a fifth of its life if that is less: it must still be good where it arrives. */
const reserveSeconds = 30;
const reservePart = 0.2;
const refreshPart = 0.8;
/** So that a caller who is refused again and again does not reach the issuer each time. */
const refusalMs = 5_000;
const entryOverhead = 200;

const weightOf = (outcome: TokenOutcome): number =>
  entryOverhead + (outcome.kind === 'token' ? outcome.token.length : 0);

/** Neither a subject token nor anything it could be made from is kept: keys are digests. */
export function createTokenCache(options: TokenCacheOptions): TokenFor {
  const { clock, fetchToken, mostFetches = 256 } = options;
  const entries = createLru<Entry>(options.mostCharacters ?? 8_388_608);
  const fetches = new Map<string, Promise<TokenOutcome>>();
  const count = cacheMeter(options.metrics);

  function fetchShared(key: string, wish: TokenWish): Promise<TokenOutcome> | undefined {
    const running = fetches.get(key);
    if (running !== undefined) return running;
    if (fetches.size >= mostFetches) return undefined;
    const fetching = fetchAndKeep(key, wish);
    fetches.set(key, fetching);
    return fetching;
  }

  async function fetchAndKeep(key: string, wish: TokenWish): Promise<TokenOutcome> {
    try {
      const outcome = await fetchToken(wish);
      keep(key, wish, outcome);
      return outcome;
    } finally {
      fetches.delete(key);
    }
  }

  function keep(key: string, wish: TokenWish, outcome: TokenOutcome): void {
    const nowMs = clock.monotonicMs();
    const before = entries.get(key);
    const isRenewal = before?.outcome.kind === 'token' && nowMs < before.untilMs;
    const lifeMs = lifetimeMs(wish, outcome, clock.now().getTime());
    if (isRenewal && (outcome.kind === 'unavailable' || outcome.kind === 'misconfigured')) {
      // That it cannot be renewed now takes nothing away from a token that is still good.
      entries.set(key, { ...before, refreshAtMs: nowMs + refusalMs }, weightOf(before.outcome));
    } else if (lifeMs > 0) {
      const part = outcome.kind === 'token' ? refreshPart : 1;
      const entry = { outcome, refreshAtMs: nowMs + lifeMs * part, untilMs: nowMs + lifeMs };
      entries.set(key, entry, weightOf(outcome));
    }
  }

  return (wish, signal) => {
    const key = keyOf(wish, options.clientId());
    const entry = entries.get(key);
    const nowMs = clock.monotonicMs();
    if (entry !== undefined && nowMs < entry.untilMs) {
      count('hit');
      if (nowMs >= entry.refreshAtMs) void fetchShared(key, wish);
      return entry.outcome;
    }
    count(fetches.has(key) ? 'joined' : 'miss');
    const fetching = fetchShared(key, wish);
    return fetching === undefined ? crowded : untilAborted(fetching, signal);
  };
}

const crowded: TokenOutcome = {
  kind: 'unavailable',
  description: 'too many tokens are being fetched at once',
  retryAfterSeconds: 1,
};

/** Everything the answer depends on. Lists are written as JSON, so that no two keys are the same text. */
function keyOf({ subject, audience, scopes, tokenUrl }: TokenWish, clientId: string): string {
  const grant = subject === undefined ? 'client-credentials' : 'access-token';
  return sha256Hex(JSON.stringify([grant, subject?.token ?? '', audience, [...scopes].sort(), tokenUrl, clientId]));
}

/** How long an outcome may be handed out, in milliseconds; 0: to those who waited for it and nobody else. */
function lifetimeMs({ subject }: TokenWish, outcome: TokenOutcome, nowMs: number): number {
  if (outcome.kind === 'unavailable') return 0;
  if (outcome.kind !== 'token') return refusalMs;
  const subjectSeconds = subject === undefined ? Infinity : (subject.expiresAtMs - nowMs) / 1000;
  const seconds = Math.min(outcome.lifeSeconds ?? 0, subjectSeconds);
  return (seconds - Math.min(reserveSeconds, seconds * reservePart)) * 1000;
}

function cacheMeter(metrics: Metrics): (result: 'hit' | 'miss' | 'joined') => void {
  const total = metrics.counter<'result'>({
    name: 'rossoctl_sidecar_token_cache_total',
    help: 'Tokens the agent needed for its calls: had already, fetched, or fetched for another call at the same moment.',
    labels: ['result'],
  });
  return (result) => total.inc({ result });
}
