/** Signs a card with an X.509-SVID: the form that every verifier of RFC 8785 knows, and only cards that mean one thing. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Json, JsonObject } from '../encoding/strict-json.ts';
import { type Algorithm, algorithmOf, keyRefusal, signatureOf } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { chainRefusal, mostCertificates } from './chain.ts';
import { readCard } from './document.ts';
import { signingInput } from './jws.ts';
import { payloadOf } from './payloads.ts';
import { pemCertificates } from './pem.ts';
import { isRefusal } from './refusal.ts';
import { roundedIntegers } from './rounded.ts';
import { spiffeIdOf } from './spiffe-id.ts';
import { mostSignatures } from './verify.ts';

export interface SignOptions {
  /** Private key, PEM, not encrypted. It appears in no message. */
  readonly key: string;
  /** Certificates, PEM: the leaf first, each next one its issuer; the root may be left out. */
  readonly chain: string;
  /** Signatures that are there are dropped instead of kept beside the new one; default false. */
  readonly replace?: boolean;
}

export interface Signed {
  readonly card: JsonObject;
  /** A sentence for each thing that will surprise somebody. */
  readonly warnings: readonly string[];
}

/** What stands in the way: the card, the key or the chain. */
export type Subject = 'card' | 'key' | 'chain';

/** Why a card cannot be signed: one sentence for people, with what to do. */
export class SignError extends Error {
  override readonly name = 'SignError';
  readonly subject: Subject;
  /** It is not what it should be at all, so nothing was decided about it. */
  readonly isUnreadable: boolean;

  constructor(subject: Subject, message: string, isUnreadable = false) {
    super(message);
    this.subject = subject;
    this.isUnreadable = isUnreadable;
  }
}

const refused = (subject: Subject, message: string) => new SignError(subject, message);
const unreadable = (subject: Subject, message: string) => new SignError(subject, message, true);

/** The card with one more entry in `signatures`. Dates are not looked at: the caller has the clock. Throws `SignError`. */
export function signCard(body: Uint8Array, options: SignOptions): Signed {
  const read = readCard(body);
  if ('refused' in read) throw refused('card', `the card cannot be signed: ${read.detail}`);
  if (read.isEnveloped) {
    throw refused(
      'card',
      'the card is in an envelope (agentCard beside attestations), which would be lost; sign what is in agentCard',
    );
  }
  const kept = options.replace === true ? [] : signaturesOf(read.card);
  if (kept.length >= mostSignatures) {
    const message = `the card has ${kept.length} signatures, and verifiers look at ${mostSignatures}; replace them`;
    throw refused('card', message);
  }
  const chain = chainOf(options.chain);
  const { key, algorithm } = keyOf(options.key, chain);
  const header = {
    alg: algorithm.name,
    kid: chain.leaf.fingerprint.slice(0, 16),
    typ: 'JOSE',
    x5c: chain.certificates.map(({ der }) => der.toString('base64')),
  };
  const encodedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  const { text, encoded } = payloadOf(read.card, 'jcs');
  const signature = signatureOf(algorithm, key, signingInput(encodedHeader, encoded)).toString('base64url');
  const { signatures: _, ...card } = read.card;
  return {
    card: { ...card, signatures: [...kept, { protected: encodedHeader, signature }] },
    warnings: [...goWarning(read.card, text), ...roundingWarnings(body)],
  };
}

/** The certificates of a chain in PEM, the leaf first, for those who look at their dates. Throws `SignError`. */
export function certificatesOf(chain: string): readonly Certificate[] {
  return chainOf(chain).certificates;
}

function signaturesOf({ signatures }: JsonObject): readonly Json[] {
  if (signatures === undefined || signatures === null) return [];
  if (Array.isArray(signatures)) return signatures as readonly Json[];
  throw refused('card', 'the signatures of the card are no list; remove or replace them');
}

interface Chain {
  readonly leaf: Certificate;
  readonly certificates: readonly Certificate[];
}

function chainOf(pem: string): Chain {
  const { certificates, faults } = pemCertificates(pem);
  const [fault] = faults;
  if (fault !== undefined) throw unreadable('chain', `the chain cannot be used: ${fault}`);
  const [leaf] = certificates;
  if (leaf === undefined)
    throw unreadable('chain', 'the chain holds no PEM block CERTIFICATE; give the SVID with its intermediates');
  if (certificates.length > mostCertificates) {
    throw refused('chain', `the chain has ${certificates.length} certificates; verifiers look at ${mostCertificates}`);
  }
  const identity = spiffeIdOf(leaf);
  const refusal = chainRefusal(certificates) ?? (isRefusal(identity) ? identity : undefined);
  if (refusal !== undefined) {
    const remedy = 'give the X.509-SVID of the workload, then the issuer of each certificate';
    throw refused('chain', `${refusal.detail}; ${remedy}`);
  }
  return { leaf, certificates };
}

function keyOf(pem: string, { leaf }: Chain): { readonly key: KeyObject; readonly algorithm: Algorithm } {
  const key = privateKey(pem);
  if (!new X509Certificate(leaf.der).checkPrivateKey(key)) {
    const remedy = 'give the key that the SVID was issued for';
    throw refused('key', `the key is not that of the first certificate of the chain; ${remedy}`);
  }
  const algorithm = leaf.publicKey === undefined ? undefined : algorithmOf(leaf.publicKey);
  if (algorithm === undefined) {
    throw refused('key', 'the key can sign no card: RSA, P-256, P-384 and P-521 are allowed');
  }
  const refusal = keyRefusal(algorithm, leaf.publicKey);
  if (refusal !== undefined) throw refused('key', refusal.detail);
  return { key, algorithm };
}

/** What OpenSSL says of a key is not repeated: it may quote it. */
function privateKey(pem: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    throw unreadable('key', 'the key is encrypted; decrypt it first (openssl pkey)');
  }
  try {
    return createPrivateKey(pem);
  } catch {
    throw unreadable('key', 'the key cannot be read: a private key in PEM is needed (PKCS #8, PKCS #1 or SEC 1)');
  }
}

function roundingWarnings(body: Uint8Array): readonly string[] {
  return roundedIntegers(body).map(
    ([written, read]) =>
      `the number ${written} is more than JSON numbers hold: ${read} is signed and written; make it a text if it matters`,
  );
}

function goWarning(card: JsonObject, text: string): readonly string[] {
  if (payloadOf(card, 'go-clean').text === text) return [];
  return [
    'the Go operator cannot verify this card: it has empty values, or characters or names that Go writes otherwise (profiles jcs and go-clean differ)',
  ];
}
