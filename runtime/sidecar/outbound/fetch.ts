/** Fetches tokens from the token endpoint: one bounded conversation a wish, with one retry where that may help. */

import { type Clock, pause } from '../../engine/clock.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import type { Answer, IdpClient, NoAnswer, Question } from '../idp/fetch.ts';
import { untilAborted } from '../idp/until-aborted.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { type ClientAuth, type TokenWish, tokenRequest } from './token-request.ts';
import { type TokenOutcome, tokenOutcome } from './token-response.ts';

/** Who asks; `missing`: not known yet, in a sentence that says what is awaited. */
export type OwnAuth = ClientAuth | { readonly missing: string };

export interface TokenFetcherOptions {
  readonly client: IdpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Asked before each conversation, so that a renewed secret or SVID counts at once. */
  readonly auth: () => OwnAuth | Promise<OwnAuth>;
  /** Where a wish without a token URL goes. */
  readonly tokenUrl: string;
  /** For everything, retry included, in milliseconds. Default 7,000: below the 8,000 that a request may take. */
  readonly deadlineMs?: number;
  /** Of one attempt. Default 5,000. */
  readonly timeoutMs?: number;
}

/** Never throws. */
export type FetchToken = (wish: TokenWish) => Promise<TokenOutcome>;

const retryStatus: readonly number[] = [502, 503, 504];
const awaitedSeconds = 5;

/** One fetcher has one circuit: while the endpoint fails, wishes are answered without asking it. */
export function createTokenFetcher(options: TokenFetcherOptions): FetchToken {
  const { clock, deadlineMs = 7_000 } = options;
  const circuit = createCircuit({ trialMs: deadlineMs });
  const meter = tokenMeter(options.metrics);
  return async (wish) => {
    const begunMs = clock.monotonicMs();
    const auth = await authWithin(options);
    // Not the endpoint's fault, so it closes no circuit.
    if ('missing' in auth) return unavailable(auth.missing, awaitedSeconds);
    const url = wish.tokenUrl === '' ? options.tokenUrl : wish.tokenUrl;
    const waitMs = circuit.waitMs(url, clock.monotonicMs());
    if (waitMs > 0) return unavailable('the identity provider did not answer just now', Math.ceil(waitMs / 1000));
    const request = { method: 'POST', url, ...tokenRequest(wish, auth) } as const;
    const answer = await asked(options, request, begunMs + deadlineMs);
    const outcome = tokenOutcome(wish, answer, clock.now().getTime() / 1000);
    settle(circuit, { url, outcome, nowMs: clock.monotonicMs() });
    meter(outcome.kind, (clock.monotonicMs() - begunMs) / 1000);
    if (outcome.kind !== 'token') tell(options.log, { wish, url, outcome });
    return outcome;
  };
}

function unavailable(description: string, retryAfterSeconds: number): TokenOutcome {
  return { kind: 'unavailable', description, retryAfterSeconds };
}

async function authWithin({ auth, timeoutMs = defaultTimeoutMs }: TokenFetcherOptions): Promise<OwnAuth> {
  const missing = "this agent's own credentials cannot be had now";
  try {
    return (await untilAborted(Promise.resolve(auth()), AbortSignal.timeout(timeoutMs))) ?? { missing };
  } catch {
    return { missing };
  }
}

const defaultTimeoutMs = 5_000;

/** `endMs`: monotonic. */
async function asked(options: TokenFetcherOptions, request: Omit<Question, 'timeoutMs'>, endMs: number) {
  const { client, clock, timeoutMs = defaultTimeoutMs } = options;
  const leftMs = (): number => Math.min(timeoutMs, endMs - clock.monotonicMs());
  const answer = await client.ask({ ...request, timeoutMs: Math.max(1, leftMs()) });
  if (!mayBetter(answer)) return answer;
  await pause(clock, 50 + 200 * Math.random(), new AbortController().signal);
  return leftMs() > 0 ? client.ask({ ...request, timeoutMs: leftMs() }) : answer;
}

/** A server that took its time will take it again; one that is being replaced is there a moment later. */
function mayBetter(answer: Answer | NoAnswer): boolean {
  return answer.kind === 'answer' ? retryStatus.includes(answer.status) : answer.reason === 'unreachable';
}

interface Settled {
  readonly url: string;
  readonly outcome: TokenOutcome;
  readonly nowMs: number;
}

function settle(circuit: Circuit, { url, outcome, nowMs }: Settled): void {
  if (outcome.kind === 'unavailable') circuit.failed(url, nowMs, (outcome.retryAfterSeconds ?? 0) * 1000);
  else circuit.succeeded(url);
}

type Failure = Exclude<TokenOutcome, { readonly kind: 'token' }>;

function tell(log: Log, { wish, url, outcome }: { wish: TokenWish; url: string; outcome: Failure }): void {
  const grant = wish.subject === undefined ? 'client-credentials' : 'exchange';
  const why = outcome.kind === 'refused' ? `${outcome.status} ${outcome.code}` : outcome.description;
  log.warn('no token for a call of the agent', {
    grant,
    url,
    audience: wish.audience,
    scopes: wish.scopes,
    outcome: outcome.kind,
    why,
  });
}

function tokenMeter(metrics: Metrics): (result: TokenOutcome['kind'], seconds: number) => void {
  const total = metrics.counter<'result'>({
    name: 'rossoctl_sidecar_token_fetches_total',
    help: 'Conversations with the token endpoint, by result.',
    labels: ['result'],
  });
  const duration = metrics.histogram({
    name: 'rossoctl_sidecar_token_fetch_seconds',
    help: 'Seconds a conversation with the token endpoint took, retry included.',
  });
  return (result, seconds) => {
    total.inc({ result });
    duration.observe({}, seconds);
  };
}
