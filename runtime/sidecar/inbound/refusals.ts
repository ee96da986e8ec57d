/** How each refusal of an inbound request is told: status, OAuth error and a sentence that helps the caller (RFC 6750 section 3). */

import type { Refusal } from '../decision.ts';
import type { TokenFault } from './token.ts';

/** Every reason an inbound request is refused for, as a metric's label. */
export type InboundRefusal =
  | TokenFault
  | 'path'
  | 'no-token'
  | 'scheme'
  | 'malformed-header'
  | 'too-large'
  | 'mtls-required'
  | 'no-audience'
  | 'identity-pending'
  | 'keys-unavailable';

interface Row {
  readonly status: number;
  readonly error: string;
  readonly description: string;
}

const token = (description: string): Row => ({ status: 401, error: 'invalid_token', description });

/** Errors that are not from RFC 6750 are ours: `missing_token`, `mtls_required`, `not_configured`, `keys_unavailable`. */
const rows: Readonly<Record<InboundRefusal, Row>> = {
  path: { status: 400, error: 'invalid_request', description: 'the path means different things to different servers' },
  'no-token': {
    status: 401,
    error: 'missing_token',
    description: 'this agent needs an access token: send it as "Authorization: Bearer <token>"',
  },
  scheme: {
    status: 401,
    error: 'missing_token',
    description: 'this agent takes access tokens only: send one as "Authorization: Bearer <token>"',
  },
  'malformed-header': {
    status: 400,
    error: 'invalid_request',
    description: 'send one header "Authorization" with the word Bearer, a blank and the token',
  },
  'too-large': token('the token is larger than 16384 characters'),
  malformed: token('this is no signed JWT: send the access token that the issuer gave, unchanged'),
  algorithm: token('the token is signed with an algorithm that is not taken here'),
  type: token('the header of the token names another type than an access token'),
  'key-unknown': token('the token is signed with a key that the issuer does not publish: get a new token'),
  signature: token('the signature of the token is wrong'),
  claims: token('the token must have the claims iss and exp, and its times must be numbers'),
  issuer: token('the token is from another issuer than the one trusted here'),
  expired: token('the token has expired: get a new one'),
  'not-yet-valid': token('the token is not valid yet: the clocks of issuer and agent may differ'),
  'token-use': token('this is no access token but one for another use, such as an ID token'),
  bound: token('the token is bound to a key of its holder, which cannot be checked here: get a plain bearer token'),
  audience: token('the token is not for this agent'),
  'mtls-required': {
    status: 403,
    error: 'mtls_required',
    description: 'this agent takes calls over mutual TLS only',
  },
  'no-audience': {
    status: 503,
    error: 'not_configured',
    description:
      'no audience is set for this agent, so that no token can be for it: set identity.allowedAudiences of its AgentRuntime, or register it as a client',
  },
  'identity-pending': {
    status: 503,
    error: 'not_configured',
    description:
      'no audience is known for this agent yet: its client id is not there; try again, or set identity.allowedAudiences of its AgentRuntime',
  },
  'keys-unavailable': {
    status: 503,
    error: 'keys_unavailable',
    description: "the token cannot be checked now: the issuer's keys cannot be fetched",
  },
};

export interface RefusalDetail {
  /** The protection space, in `WWW-Authenticate`. */
  readonly realm: string;
  /** Instead of the row's sentence. */
  readonly description?: string;
  /** For 503: when to come back. Default 5. */
  readonly retryAfterSeconds?: number;
}

/** The answer for a reason. */
export function inboundRefusal(reason: InboundRefusal, detail: RefusalDetail): Refusal {
  const { status, error, description: usual } = rows[reason];
  const description = detail.description ?? usual;
  return {
    kind: 'refuse',
    reason,
    status,
    error,
    description,
    headers: headers({ status, error, description }, detail),
  };
}

function headers(
  { status, error, description }: Row,
  { realm, retryAfterSeconds = 5 }: RefusalDetail,
): Readonly<Record<string, string>> {
  if (status === 503) return { 'retry-after': String(retryAfterSeconds) };
  if (status !== 401 && error !== 'invalid_request') return {};
  const challenge = `Bearer realm="${quoted(realm)}"`;
  // Without credentials the challenge says nothing but that they are needed (RFC 6750 section 3.1).
  if (error === 'missing_token') return { 'www-authenticate': challenge };
  return { 'www-authenticate': `${challenge}, error="${error}", error_description="${quoted(description)}"` };
}

/** The characters that RFC 6750 section 3 allows between the quotes. */
const quoted = (text: string): string => text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?');
