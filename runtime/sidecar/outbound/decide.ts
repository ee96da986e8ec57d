/** Decides each request the agent makes: left alone, with a token made for where it goes, or refused. */

import { type Authority, authorityOf, isAddress, sameAddress } from '../../encoding/authority.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Decide, Decision, Pass, RequestHead } from '../decision.ts';
import { writtenClaims } from '../idp/bearer.ts';
import type { PlaceOf } from './addresses.ts';
import type { TokenFor } from './cache.ts';
import { isMtlsRequired, type OutboundMtls } from './mtls.ts';
import { isService } from './names.ts';
import { outboundRefusal } from './refusals.ts';
import { type Route, routeOf, type Target } from './routes.ts';
import type { TokenWish } from './token-request.ts';
import type { TokenOutcome } from './token-response.ts';

export interface OutboundOptions {
  /** Whose tokens are callers' tokens. */
  readonly issuer: string;
  readonly routes: readonly Route[];
  /**
   * What a caller's token is exchanged for where no route matches, towards Services of the cluster alone: whoever gets such a token can use it
   * wherever its audience is accepted. Undefined: such a request is refused.
   */
  readonly fallback: Target | undefined;
  readonly tokenFor: TokenFor;
  readonly placeOf: PlaceOf;
  /** The pod's own addresses: no token is made for itself. */
  readonly own?: readonly string[];
  readonly mtls: OutboundMtls;
  readonly clock: Clock;
}

/** One request under way. */
interface Call {
  readonly head: RequestHead;
  readonly authority: Authority;
  /** The caller's token, if the request holds one. */
  readonly subject: TokenWish['subject'];
  readonly signal: AbortSignal;
}

/**
 * The rules for what goes out. A caller's token is one that the issuer made; it leaves as it is only by a route that says `passthrough`.
 * What the agent sends as its own (keys of other services, passwords) is none of ours where no route matches.
 */
export function createOutbound(options: OutboundOptions): Decide {
  return (head, signal) => {
    const values = head.values('authorization');
    if (values.length > 1) return outboundRefusal('several-authorizations');
    const authority = authorityOf(head.authority);
    const subject = subjectOf(values[0], options.issuer);
    if (authority === undefined) return outboundRefusal('authority');
    const call = { head, authority, subject, signal };
    const place = { port: authority.port ?? defaultPort, path: head.path };
    const route = routeOf(options.routes, authority.host, place);
    const decision = route === undefined ? unrouted(options, call) : byAction[route.action](options, call, route);
    if (!isMtlsRequired(options.mtls.mode, route, authority.host)) return decision;
    return decision instanceof Promise ? decision.then((it) => byMtls(options, it)) : byMtls(options, decision);
  };
}

/** What passes does so by mutual TLS, or it is refused here where that cannot be. */
function byMtls({ mtls }: OutboundOptions, decision: Decision): Decision {
  if (decision.kind === 'refuse') return decision;
  const why = mtls.unavailable();
  if (why === undefined) return { ...decision, isMtls: true };
  return outboundRefusal('mtls-unavailable', {
    description: `this host is called by mutual TLS alone, and this pod cannot: ${why}`,
  });
}

/** The first word that is a JWT of the issuer, whatever scheme it stands behind. */
function subjectOf(value: string | undefined, issuer: string): TokenWish['subject'] {
  for (const token of value?.split(/[\s,="]+/) ?? []) {
    const claims = writtenClaims(token);
    if (claims?.['iss'] !== issuer) continue;
    const { exp } = claims;
    return { token, expiresAtMs: typeof exp === 'number' ? exp * 1000 : 0 };
  }
  return undefined;
}

function unrouted(options: OutboundOptions, call: Call): Decision | Promise<Decision> {
  const { subject, authority } = call;
  if (subject === undefined) return { kind: 'pass', reason: 'no-route' };
  const { fallback, clock } = options;
  if (fallback === undefined || !isService(authority.host)) return outboundRefusal('no-route');
  if (subject.expiresAtMs <= clock.now().getTime()) return outboundRefusal('expired');
  return exchanged(options, call, fallback, 'default');
}

type Act = (options: OutboundOptions, call: Call, route: Route) => Decision | Promise<Decision>;

const byAction: Readonly<Record<Route['action'], Act>> = {
  deny: () => outboundRefusal('denied'),
  passthrough: (options, call) => {
    const pass = { kind: 'pass', reason: 'passthrough' } as const;
    return call.subject === undefined ? pass : bound(options, call, pass);
  },
  exchange: (options, call, route) => {
    if (route.action !== 'exchange') throw new Error('a route has another action than its own');
    const { subject } = call;
    if (subject !== undefined && subject.expiresAtMs <= options.clock.now().getTime())
      return outboundRefusal('expired');
    if (subject !== undefined) return exchanged(options, call, route.target, 'exchange');
    if (route.noToken === 'client-credentials') return exchanged(options, call, route.target, 'client-credentials');
    return route.noToken === 'allow' ? { kind: 'pass', reason: 'no-token-allowed' } : outboundRefusal('no-token');
  },
};

async function exchanged(options: OutboundOptions, call: Call, target: Target, reason: string): Promise<Decision> {
  const { subject, signal } = call;
  signal.throwIfAborted();
  const decision = withToken(await options.tokenFor({ ...target, subject }, signal), reason);
  return decision.kind === 'pass' ? bound(options, call, decision) : decision;
}

/** Sends the request to the host that it names, wherever the agent connected: else a made-up Host would carry a token to another place. */
async function bound(options: OutboundOptions, { head, authority, signal }: Call, pass: Pass): Promise<Decision> {
  const place = await options.placeOf(authority.host, head.destination?.address, signal);
  if (place.kind === 'unknown') return outboundRefusal('unresolved');
  const address = place.kind === 'elsewhere' ? place.address : head.destination?.address;
  if (address !== undefined && !isAddress(address)) return outboundRefusal('unresolved');
  if (address !== undefined && isOwn(address, options.own)) return outboundRefusal('itself');
  if (place.kind === 'there') return pass;
  return { ...pass, destination: { address: place.address, port: authority.port ?? defaultPort } };
}

/** Loopback, "this host", and the pod's own addresses: there the agent would be handed a token that is made for others. */
export function isOwn(address: string, own: readonly string[] = []): boolean {
  const same = sameAddress(address);
  return /^(?:127\.|0\.)/.test(same) || same === '::1' || same === '::' || own.map(sameAddress).includes(same);
}

/** Of plain HTTP, which is all that is seen here. */
export const defaultPort = 80;

function withToken(outcome: TokenOutcome | undefined, reason: string): Decision {
  switch (outcome?.kind) {
    case 'token':
      return { kind: 'pass', reason, set: { authorization: `Bearer ${outcome.token}` } };
    case 'refused':
      return outboundRefusal(outcome.status === 401 ? 'refused' : 'forbidden', { code: outcome.code });
    case 'misconfigured':
      return outboundRefusal('misconfigured', outcome);
    default:
      return outboundRefusal('unavailable', outcome);
  }
}
