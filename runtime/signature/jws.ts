/** One entry of `signatures`: its protected header by the rules of RFC 7515, and nothing taken from the unprotected one. */

import { bytesOfBase64Url } from '../encoding/base64.ts';
import { isJsonObject, type Json, type JsonFault, type JsonObject, parseStrictJson } from '../encoding/strict-json.ts';
import { type Algorithm, algorithmNamed, algorithmNames } from './algorithms.ts';
import { plain, type Refusal, refusal } from './refusal.ts';

export interface Signature {
  /** As served: it is part of what was signed. */
  readonly protected: string;
  readonly signature: Uint8Array;
  /** The same as served. */
  readonly encoded: string;
  readonly algorithm: Algorithm;
  /** At least one; what each is, is checked when the path is built. */
  readonly x5c: readonly string[];
  /** `kid`, cut after 256 characters. Only reported: it decides nothing. */
  readonly keyId: string | undefined;
}

/** Of the decoded header. The bytes of a card bound it already. */
const limits = { bytes: 1024 * 1024, depth: 16 };

/** Reads an entry. `jku`, `x5u`, `jwk` and members that are not known are never followed. Never throws. */
export function readSignature(entry: Json): Signature | Refusal {
  if (!isJsonObject(entry)) return malformed('an entry of signatures is no object');
  const { protected: encoded, signature: encodedSignature, header: unprotected = {} } = entry;
  if (typeof encoded !== 'string') return malformed('protected is missing or no text');
  const header = decodedHeader(encoded);
  if ('refused' in header) return header.refused;
  if (!isJsonObject(unprotected)) return malformed('header is no object');
  const { members } = header;
  return (
    criticalRefusal(members) ??
    criticalRefusal(unprotected) ??
    overlapRefusal(members, unprotected) ??
    fieldsOf(members, encoded, encodedSignature)
  );
}

function malformed(detail: string): Refusal {
  return refusal('malformed-signature', detail);
}

/** The header's members are foreign names: they are kept apart from ours. */
function decodedHeader(encoded: string): { readonly members: JsonObject } | { readonly refused: Refusal } {
  const bytes = bytesOfBase64Url(encoded);
  if (bytes === undefined) return { refused: malformed('protected is no base64url without padding') };
  const parsed = parseStrictJson(bytes, limits);
  if ('fault' in parsed) return { refused: headerFault(parsed.fault) };
  if (isJsonObject(parsed.value)) return { members: parsed.value };
  return { refused: malformed('the protected header is no JSON object') };
}

function headerFault({ kind, message }: JsonFault): Refusal {
  const detail = `the protected header cannot be read: ${message}`;
  if (kind === 'duplicate') return refusal('duplicate-member', detail);
  return kind === 'limit' ? refusal('limit-exceeded', detail) : malformed(detail);
}

/** RFC 7515 section 4.1.11 and RFC 7797: extensions that change what is verified. None is known here. */
function criticalRefusal(header: JsonObject): Refusal | undefined {
  const found = ['crit', 'b64'].find((name) => Object.hasOwn(header, name));
  return found === undefined
    ? undefined
    : refusal('crit-not-supported', `the header has ${found}, which is not supported`);
}

/** RFC 7515 section 7.2.1. */
function overlapRefusal(members: JsonObject, unprotected: JsonObject): Refusal | undefined {
  const name = Object.keys(unprotected).find((each) => Object.hasOwn(members, each));
  return name === undefined
    ? undefined
    : malformed(`${plain(name, 64)} is in the protected and in the unprotected header`);
}

function fieldsOf(members: JsonObject, encoded: string, encodedSignature: Json | undefined): Signature | Refusal {
  const own = (name: string): Json | undefined => (Object.hasOwn(members, name) ? members[name] : undefined);
  const alg = own('alg');
  const algorithm = algorithmNamed(alg);
  if (algorithm === undefined) {
    const given = typeof alg === 'string' ? plain(alg, 32) : 'missing or no text';
    return refusal('alg-not-allowed', `alg is ${given}; allowed are ${algorithmNames.join(', ')}`);
  }
  const x5c = certificatesOf(own('x5c'));
  if ('reason' in x5c) return x5c;
  const text = typeof encodedSignature === 'string' ? encodedSignature : '';
  const signature = bytesOfBase64Url(text);
  if (signature === undefined || signature.length === 0) return malformed('signature is no base64url without padding');
  const kid = own('kid');
  const keyId = typeof kid === 'string' ? plain(kid, 256) : undefined;
  return { protected: encoded, signature, encoded: text, algorithm, x5c, keyId };
}

function certificatesOf(x5c: Json | undefined): readonly string[] | Refusal {
  if (x5c === undefined) return refusal('x5c-missing', 'the protected header has no x5c, the chain of certificates');
  if (!Array.isArray(x5c)) return refusal('x5c-malformed', 'x5c is no list');
  if (x5c.length === 0) return refusal('x5c-missing', 'x5c is empty');
  const texts = (x5c as readonly Json[]).filter((each) => typeof each === 'string');
  return texts.length === x5c.length ? texts : refusal('x5c-malformed', 'x5c holds something that is no text');
}

/** What was signed (RFC 7515 section 5.2): the header as served, and the payload, which is always made anew from the card. */
export function signingInput(encodedHeader: string, encodedPayload: string): Buffer {
  return Buffer.from(`${encodedHeader}.${encodedPayload}`, 'latin1');
}
