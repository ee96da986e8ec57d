/** How each refusal of the agent's own call is told to the agent. */

import type { Refusal } from '../decision.ts';

/** Every reason an outbound request is refused for, as a metric's label. */
export type OutboundRefusal = keyof typeof rows;

const rows = {
  authority: {
    status: 400,
    error: 'invalid_request',
    description: 'the authority of the request (Host) is no host with an optional port',
  },
  'several-authorizations': {
    status: 400,
    error: 'invalid_request',
    description: 'the request has more than one header "Authorization"',
  },
  denied: { status: 403, error: 'route_denied', description: 'the routes of this agent do not let it call this host' },
  'no-token': {
    status: 401,
    error: 'missing_token',
    description:
      'the route to this host needs the token of a caller: pass on the "Authorization" of the request that is being served',
  },
  'no-route': {
    status: 403,
    error: 'no_route',
    description:
      "the caller's token is not sent to a host that no route names: remove it, add a route (tokenExchange.routes), or call a Service of the cluster by NAME.NAMESPACE.svc",
  },
  expired: { status: 401, error: 'invalid_token', description: "the caller's token has expired" },
  refused: {
    status: 401,
    error: 'invalid_token',
    description: "the identity provider does not take the caller's token",
  },
  forbidden: {
    status: 403,
    error: 'access_denied',
    description: "the identity provider gives no token for this host for the caller's",
  },
  misconfigured: {
    status: 503,
    error: 'not_configured',
    description: 'no token for this host can be had as things are set',
  },
  unavailable: { status: 503, error: 'idp_unavailable', description: 'the identity provider cannot be asked now' },
  itself: {
    status: 403,
    error: 'route_denied',
    description: 'the host is this pod itself, and no token is made for calls of an agent to itself',
  },
  loop: {
    status: 403,
    error: 'route_denied',
    description: 'the host is the proxy of this pod itself: call what is behind it by its own port',
  },
  'not-a-tunnel': {
    status: 400,
    error: 'invalid_request',
    description: 'a URL of scheme https is not fetched by this proxy: open a tunnel with CONNECT HOST:PORT',
  },
  'mtls-unavailable': {
    status: 503,
    error: 'mtls_unavailable',
    description: 'this host is called by mutual TLS alone, and this pod cannot: it has no SPIFFE identity',
  },
  unresolved: {
    status: 503,
    error: 'host_unknown',
    description: 'the host cannot be looked up, so that a token for it might go elsewhere',
  },
} as const;

export interface RefusalDetail {
  readonly description?: string;
  /** The identity provider's own error code, told beside ours. */
  readonly code?: string;
  /** For 503. Default 5. */
  readonly retryAfterSeconds?: number | undefined;
}

/** The answer for a reason. */
export function outboundRefusal(reason: OutboundRefusal, detail: RefusalDetail = {}): Refusal {
  const { status, error, description: usual } = rows[reason];
  const told = detail.description ?? usual;
  const description = detail.code === undefined || detail.code === '' ? told : `${told} (${detail.code})`;
  return { kind: 'refuse', reason, status, error, description, headers: headers(status, detail) };
}

function headers(status: number, { retryAfterSeconds = 5 }: RefusalDetail): Readonly<Record<string, string>> {
  if (status === 503) return { 'retry-after': String(retryAfterSeconds) };
  return status === 401 ? { 'www-authenticate': 'Bearer realm="rossoctl-outbound"' } : {};
}
