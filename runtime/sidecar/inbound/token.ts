/** Verifies one access token: its form, its key, its signature, its claims (RFC 7515, 7519, 9068). */

import {
  type CompactVerifyGetKey,
  compactVerify,
  decodeProtectedHeader,
  errors,
  type ProtectedHeaderParameters,
} from 'jose';
import { bytesOfBase64Url } from '../../encoding/base64.ts';
import type { JsonObject } from '../../encoding/strict-json.ts';
import { writtenClaims } from '../idp/bearer.ts';
import { tokenAlgorithms } from './algorithms.ts';
import { type ClaimFault, earlyFault, type Expectations, lateFault } from './claims.ts';

/** Why a token is refused, as a metric's label. `key-unknown`: none of the issuer's keys made it, as far as they are known. */
export type TokenFault = 'malformed' | 'algorithm' | 'type' | 'key-unknown' | 'signature' | ClaimFault;

export type TokenVerdict =
  | {
      readonly kind: 'valid';
      /** By the wall clock, skew included. */
      readonly untilMs: number;
      readonly claims: JsonObject;
    }
  | { readonly kind: 'invalid'; readonly fault: TokenFault };

/** The key a token names, out of those that are known now. Throws jose's `JWKSNoMatchingKey` and `JWKSMultipleMatchingKeys`. */
export type KeyFor = CompactVerifyGetKey;

/** RFC 9068 section 2.1, and what issuers wrote before it; without `typ` a token is taken for what its claims say. */
const types: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt', 'application/jwt'];

const invalid = (fault: TokenFault): TokenVerdict => ({ kind: 'invalid', fault });

/** Judges a token at the time `now`; each part must be in its one spelling, so that one token is one text. Never throws for anything a token can hold. */
export async function verifyToken(
  token: string,
  keyFor: KeyFor,
  expectations: Expectations,
  now: Date,
): Promise<TokenVerdict> {
  if (!token.split('.').every((part) => bytesOfBase64Url(part) !== undefined)) return invalid('malformed');
  const header = headerOf(token);
  const claims = writtenClaims(token);
  if (header === undefined || claims === undefined) return invalid('malformed');
  const fault = headerFault(header);
  if (fault !== undefined) return invalid(fault);
  const held = { ...expectations, claims, nowSeconds: now.getTime() / 1000 };
  const refused = earlyFault(held) ?? (await signatureFault(token, keyFor)) ?? lateFault(held);
  if (refused !== undefined) return invalid(refused);
  return { kind: 'valid', claims, untilMs: (Number(claims['exp']) + expectations.skewSeconds) * 1000 };
}

function headerOf(token: string): ProtectedHeaderParameters | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function headerFault({ alg, typ }: ProtectedHeaderParameters): TokenFault | undefined {
  if (typeof alg !== 'string' || !tokenAlgorithms.includes(alg)) return 'algorithm';
  return types.includes(typeof typ === 'string' ? typ.toLowerCase() : typ) ? undefined : 'type';
}

/** By jose's error; all else that can go wrong lies in how the token is made. */
const faults: readonly (readonly [type: new (...parameters: never[]) => Error, fault: TokenFault])[] = [
  [errors.JWKSNoMatchingKey, 'key-unknown'],
  [errors.JWKSMultipleMatchingKeys, 'key-unknown'],
  [errors.JWSSignatureVerificationFailed, 'signature'],
];

async function signatureFault(token: string, keyFor: KeyFor): Promise<TokenFault | undefined> {
  try {
    await compactVerify(token, keyFor, { algorithms: [...tokenAlgorithms] });
    return undefined;
  } catch (error) {
    return faults.find(([type]) => error instanceof type)?.[1] ?? 'malformed';
  }
}
