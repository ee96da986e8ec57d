/** Reads the keys an issuer publishes (RFC 7517) and keeps those that a token can be checked with. */

import { createLocalJWKSet, type JWK } from 'jose';
import { bytesOfBase64Url } from '../../encoding/base64.ts';
import { sha256Hex } from '../../encoding/digest.ts';
import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';
import type { KeyFor } from './token.ts';

export interface KeySet {
  readonly keyFor: KeyFor;
  /** Changes when any usable key does. */
  readonly fingerprint: string;
  readonly count: number;
}

const limits = { bytes: 262_144, depth: 8 };
const mostKeys = 100;
const leastRsaBytes = 256;

/** The usable keys, or why the document is none of ours: the second half of a sentence about it. */
export function readKeySet(body: Uint8Array): { readonly keys: KeySet } | { readonly problem: string } {
  const parsed = parseStrictJson(body, limits);
  if ('fault' in parsed) return { problem: `is no JSON: ${parsed.fault.message}` };
  const list = isJsonObject(parsed.value) ? parsed.value['keys'] : undefined;
  if (!Array.isArray(list)) return { problem: 'is no key set: it has no list "keys"' };
  const usable = list.slice(0, mostKeys).filter(isUsable);
  if (usable.length === 0) return { problem: `has no key that can check a signature among its ${list.length}` };
  try {
    return { keys: { ...asKeySet(usable), count: usable.length } };
  } catch {
    return { problem: 'is no key set: a key in it has members that no key has' };
  }
}

function asKeySet(usable: readonly JsonObject[]): Pick<KeySet, 'keyFor' | 'fingerprint'> {
  // The cast is sound: jose checks each member when it makes a key of it.
  const keys = usable as readonly JWK[];
  return { keyFor: createLocalJWKSet({ keys: [...keys] }), fingerprint: sha256Hex(JSON.stringify(usable)) };
}

/** Public keys for signatures; RSA from 2,048 bits (RFC 7518 section 3.3). A key that is not understood is no fault of the others. */
function isUsable(key: Json): key is JsonObject {
  if (!isJsonObject(key) || Object.hasOwn(key, 'd')) return false;
  if (key['use'] !== undefined && key['use'] !== 'sig') return false;
  const isLongEnough = typeof key['n'] === 'string' && (bytesOfBase64Url(key['n'])?.length ?? 0) >= leastRsaBytes;
  return key['kty'] === 'RSA' ? isLongEnough : key['kty'] === 'EC' || key['kty'] === 'OKP';
}
