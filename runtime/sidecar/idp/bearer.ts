/** Reads the header `Authorization` of a request, and what a token says of itself before anybody has verified it. */

import { bytesOfBase64Url } from '../../encoding/base64.ts';
import { isJsonObject, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';

/** What `Authorization` holds. */
export type Authorization =
  | { readonly kind: 'none' }
  /** A credential of another scheme; `scheme` in lower case. */
  | { readonly kind: 'other'; readonly scheme: string }
  | { readonly kind: 'bearer'; readonly token: string }
  /** No request that RFC 6750 allows: more than one header, or a bearer without a token or with characters that no token has. */
  | { readonly kind: 'malformed'; readonly why: 'several' | 'no-token' | 'characters' }
  | { readonly kind: 'too-large' };

/** Characters of the header's value: nothing of a larger one is looked at. */
export const largestToken = 16_384;

/** RFC 6750 section 2.1, `b64token`. */
const token68 = /^[A-Za-z0-9._~+/-]+=*$/;

/** Reads every value of the header in the order they came. The scheme is compared without case (RFC 9110 section 11.1). */
export function authorizationOf(values: readonly string[]): Authorization {
  const [value, ...others] = values;
  if (value === undefined) return { kind: 'none' };
  if (others.length > 0) return { kind: 'malformed', why: 'several' };
  if (value.length > largestToken) return { kind: 'too-large' };
  const [scheme = '', ...rest] = value.trim().split(/[ \t]+/);
  if (scheme === '') return { kind: 'none' };
  if (scheme.toLowerCase() !== 'bearer') return { kind: 'other', scheme: scheme.toLowerCase() };
  const [token] = rest;
  if (token === undefined) return { kind: 'malformed', why: 'no-token' };
  if (rest.length > 1 || !token68.test(token)) return { kind: 'malformed', why: 'characters' };
  return { kind: 'bearer', token };
}

const claimLimits = { bytes: largestToken, depth: 32 };

/** The claims of a signed JWT in its compact form as they are written, verified by nobody; undefined for anything else. */
export function writtenClaims(token: string): JsonObject | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  const bytes = bytesOfBase64Url(parts[1] ?? '');
  if (bytes === undefined) return undefined;
  const parsed = parseStrictJson(bytes, claimLimits);
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined;
}
