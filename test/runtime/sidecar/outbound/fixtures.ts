/** Callers' tokens as the agent passes them on (nobody checks their signature on the way out), and requests it makes. */

import type { RequestHead } from '../../../../runtime/sidecar/decision.ts';
import type { TokenWish } from '../../../../runtime/sidecar/outbound/token-request.ts';
import type { TokenOutcome } from '../../../../runtime/sidecar/outbound/token-response.ts';
import { head, type HeadWish, issuer, now, nowSeconds } from '../inbound/fixtures.ts';

export { issuer, now, nowSeconds };

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with these claims, signed by nobody. */
export function tokenWith(claims: Readonly<Record<string, unknown>> = {}): string {
  return [
    part({ alg: 'RS256' }),
    part({ iss: issuer, sub: 'user-1', exp: nowSeconds + 300, ...claims }),
    'c2lnbmF0dXJl',
  ].join('.');
}

export const callersToken = tokenWith();

/** An outbound GET to `tool-x:8080`, changed as asked. */
export function call(wish: HeadWish = {}): RequestHead {
  return head({
    direction: 'outbound',
    authority: 'tool-x:8080',
    destination: { address: '10.1.0.5', port: 8080 },
    ...wish,
  });
}

export const wishFor = (audience: string, token: string | undefined = callersToken): TokenWish => ({
  subject: token === undefined ? undefined : { token, expiresAtMs: (nowSeconds + 300) * 1000 },
  audience,
  scopes: ['tool-aud'],
  tokenUrl: '',
});

export const granted = (token: string, lifeSeconds: number | undefined = 300): TokenOutcome => ({
  kind: 'token',
  token,
  lifeSeconds,
});
