/** Decides each request that comes to the pod: open to all, with a token that is good here, or refused. */

import type { Clock } from '../../engine/clock.ts';
import type { Metrics } from '../../engine/types.ts';
import type { Decide, Decision } from '../decision.ts';
import { authorizationOf } from '../idp/bearer.ts';
import type { Asked, PathVerdict } from './bypass.ts';
import type { Keeper, Keys } from './keeper.ts';
import { type InboundRefusal, inboundRefusal, type RefusalDetail } from './refusals.ts';
import { verifyToken } from './token.ts';
import type { Verified } from './verified.ts';

/** The pod's own OAuth client id: known, not there yet, or none is expected. */
export type ClientId = { readonly kind: 'known'; readonly id: string } | { readonly kind: 'pending' | 'none' };

export interface InboundOptions {
  readonly issuer: string;
  /** Audiences besides the pod's own client id. */
  readonly audiences: readonly string[];
  readonly clientId: () => ClientId;
  readonly bypass: (asked: Asked) => PathVerdict;
  readonly keeper: Pick<Keeper, 'keys' | 'refetched'>;
  readonly verified: Verified;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** How far the issuer's clock may be from ours, 0 to 300. Default 30. */
  readonly skewSeconds?: number;
  /** Only bypassed paths by plain HTTP (`mtls.mode: strict`). */
  readonly isMtlsRequired: boolean;
  /** Of `WWW-Authenticate`. Default `rossoctl`. */
  readonly realm?: string;
}

/** Seconds. */
export const mostSkew = 300;

/** `token`: it may pass. */
type Outcome = 'token' | InboundRefusal | ({ readonly reason: InboundRefusal } & Omit<RefusalDetail, 'realm'>);

/**
 * The rules for what comes in. A request that passes is left as it is: the application needs its caller's token for the calls it makes in
 * turn, and gets no header of ours, so that whatever has our prefix can be stripped from every request.
 */
export function createInbound(options: InboundOptions): Decide {
  const { bypass, isMtlsRequired, realm = 'rossoctl' } = options;
  const check = tokenCheck(options);
  return (head, signal) => {
    const path = bypass({ method: head.method, path: head.path, port: head.destination?.port });
    // A WebSocket is no reading: it carries words both ways for as long as it likes.
    const isUpgrade = head.values('upgrade').length > 0;
    if (path.kind === 'bypass' && !isUpgrade) return { kind: 'pass', reason: 'bypass' };
    if (path.kind === 'refused') return inboundRefusal('path', { realm, description: path.why });
    if (isMtlsRequired && !head.isTls) return inboundRefusal('mtls-required', { realm });
    const outcome = authorized(head.values('authorization'), (token) => check(token, signal));
    return outcome instanceof Promise ? outcome.then((it) => told(it, realm)) : told(outcome, realm);
  };
}

function told(outcome: Outcome, realm: string): Decision {
  if (outcome === 'token') return { kind: 'pass', reason: 'token' };
  if (typeof outcome === 'string') return inboundRefusal(outcome, { realm });
  return inboundRefusal(outcome.reason, { ...outcome, realm });
}

type Check = (token: string) => Outcome | Promise<Outcome>;

function authorized(values: readonly string[], check: Check): Outcome | Promise<Outcome> {
  const authorization = authorizationOf(values);
  switch (authorization.kind) {
    case 'bearer':
      return check(authorization.token);
    case 'none':
      return 'no-token';
    case 'other':
      return 'scheme';
    case 'malformed':
      return 'malformed-header';
    default:
      return 'too-large';
  }
}

/** A token that was verified before is answered at once, without a promise. */
function tokenCheck(options: InboundOptions): (token: string, signal: AbortSignal) => Outcome | Promise<Outcome> {
  const { keeper, verified, clock } = options;
  const count = verificationMeter(options.metrics);

  function withKeys(keys: Keys, token: string, signal: AbortSignal): Outcome | Promise<Outcome> {
    if (keys.kind === 'none') return { reason: 'keys-unavailable', retryAfterSeconds: keys.retryAfterSeconds };
    if (verified.has(token, generation(options, keys), clock.now().getTime())) {
      count('remembered');
      return 'token';
    }
    return verify(keys, token, signal);
  }

  async function verify(keys: Keys & { readonly kind: 'held' }, token: string, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    const outcome = await judge(options, keys, token);
    const settled = outcome === 'key-unknown' ? await withNewerKeys(keys, token, signal) : outcome;
    count(settled === 'token' ? 'verified' : 'refused');
    return settled;
  }

  async function withNewerKeys(
    old: { readonly fingerprint: string },
    token: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { keys, isDoubtful } = await keeper.refetched(signal);
    if (keys.kind === 'none') return { reason: 'keys-unavailable', retryAfterSeconds: keys.retryAfterSeconds };
    const outcome = keys.fingerprint === old.fingerprint ? 'key-unknown' : await judge(options, keys, token);
    return outcome === 'key-unknown' && isDoubtful ? 'keys-unavailable' : outcome;
  }

  return (token, signal) => {
    const audiences = audiencesOf(options);
    if (audiences.length === 0) return options.clientId().kind === 'pending' ? 'identity-pending' : 'no-audience';
    const keys = keeper.keys(signal);
    return keys instanceof Promise ? keys.then((it) => withKeys(it, token, signal)) : withKeys(keys, token, signal);
  };
}

async function judge(options: InboundOptions, keys: Keys & { readonly kind: 'held' }, token: string): Promise<Outcome> {
  const { issuer, clock, verified, skewSeconds = 30 } = options;
  const expectations = {
    issuer,
    audiences: audiencesOf(options),
    skewSeconds: Math.min(Math.max(skewSeconds, 0), mostSkew),
  };
  const verdict = await verifyToken(token, keys.keyFor, expectations, clock.now());
  if (verdict.kind === 'valid') {
    verified.add(token, generation(options, keys), verdict.untilMs);
    return 'token';
  }
  // Though the client id is not there yet: a list is what was asked for, and a 503 that never ends helps nobody.
  return verdict.fault === 'audience' ? notForUs(expectations.audiences) : verdict.fault;
}

const mostNamed = 3;

/** Only who holds what our issuer signed is told what it should have been. */
function notForUs(audiences: readonly string[]): Outcome {
  const named = audiences.slice(0, mostNamed).join(', ');
  return { reason: 'audience', description: `the token is not for this agent: get one for the audience ${named}` };
}

function audiencesOf({ audiences, clientId }: InboundOptions): readonly string[] {
  const own = clientId();
  return own.kind === 'known' ? [...audiences, own.id] : audiences;
}

/** What a verdict rests on besides the token: with another, no verdict from before counts. */
function generation({ clientId }: InboundOptions, { fingerprint }: { readonly fingerprint: string }): string {
  const own = clientId();
  return own.kind === 'known' ? `${fingerprint} ${own.id}` : fingerprint;
}

function verificationMeter(metrics: Metrics): (result: 'remembered' | 'verified' | 'refused') => void {
  const total = metrics.counter<'result'>({
    name: 'rossoctl_sidecar_token_verifications_total',
    help: 'Tokens of inbound calls: remembered from before, verified, or refused.',
    labels: ['result'],
  });
  return (result) => total.inc({ result });
}
