/** The algorithms a card may be signed with: one row each, and nothing else counts (RFC 7518 sections 3.3 and 3.4). */

import { constants, type KeyObject, sign, verify } from 'node:crypto';
import { type Refusal, refusal } from './refusal.ts';

export interface Algorithm {
  /** As `alg` in the protected header. */
  readonly name: string;
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly keyType: 'rsa' | 'ec';
  /** Of EC keys, as OpenSSL names it; the standard fixes one curve an algorithm. */
  readonly curve?: string;
  /** Of EC signatures: r and s, each as long as the curve's order. */
  readonly signatureBytes?: number;
}

const rows: readonly Algorithm[] = [
  { name: 'RS256', hash: 'sha256', keyType: 'rsa' },
  { name: 'RS384', hash: 'sha384', keyType: 'rsa' },
  { name: 'RS512', hash: 'sha512', keyType: 'rsa' },
  { name: 'ES256', hash: 'sha256', keyType: 'ec', curve: 'prime256v1', signatureBytes: 64 },
  { name: 'ES384', hash: 'sha384', keyType: 'ec', curve: 'secp384r1', signatureBytes: 96 },
  { name: 'ES512', hash: 'sha512', keyType: 'ec', curve: 'secp521r1', signatureBytes: 132 },
];

export const algorithmNames: readonly string[] = rows.map(({ name }) => name);

const leastRsaBits = 2048;

/** The row of an `alg`; names are compared exactly. */
export function algorithmNamed(name: unknown): Algorithm | undefined {
  return rows.find((row) => row.name === name);
}

/** The algorithm a key signs with: RS256 for RSA, for EC what its curve says. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  return rows.find((row) => isOfType(key, row));
}

/** Why this key cannot have made a signature of this algorithm; undefined: it can. */
export function keyRefusal(algorithm: Algorithm, key: KeyObject | undefined): Refusal | undefined {
  const { name, keyType, curve } = algorithm;
  if (key === undefined || !isOfType(key, algorithm)) {
    const wanted = keyType === 'rsa' ? 'an RSA key' : `a key on the curve ${curve}`;
    return refusal('alg-key-mismatch', `${name} needs ${wanted}; the leaf certificate has ${keyText(key)}`);
  }
  const weakness = keyType === 'rsa' ? rsaWeakness(key) : undefined;
  return weakness === undefined ? undefined : refusal('weak-key', `the key of the leaf certificate ${weakness}`);
}

/** What makes a key too weak for a certificate authority; undefined: nothing. */
export function keyWeakness(key: KeyObject | undefined): string | undefined {
  const algorithm = key === undefined ? undefined : algorithmOf(key);
  if (key === undefined || algorithm === undefined) return `is ${keyText(key)}; RSA and P-256, P-384, P-521 are known`;
  return algorithm.keyType === 'rsa' ? rsaWeakness(key) : undefined;
}

function isOfType(key: KeyObject, { keyType, curve }: Algorithm): boolean {
  return key.asymmetricKeyType === keyType && (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve);
}

function rsaWeakness({
  asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {},
}: KeyObject): string | undefined {
  if (modulusLength < leastRsaBits) return `has ${modulusLength} bits; RSA needs at least ${leastRsaBits}`;
  return publicExponent < 3n || publicExponent % 2n === 0n ? 'has an exponent that no RSA key may have' : undefined;
}

function keyText(key: KeyObject | undefined): string {
  if (key === undefined) return 'a key of an unknown kind';
  const { asymmetricKeyType = 'unknown', asymmetricKeyDetails: { namedCurve, modulusLength } = {} } = key;
  const size = namedCurve ?? (modulusLength === undefined ? '' : `${modulusLength} bits`);
  return `a key of the kind ${asymmetricKeyType} ${size}`.trimEnd();
}

/**
 * Whether `key` made `signature` over `input`. ECDSA signatures are r and s side by side; DER, which Node expects unless told otherwise,
 * is refused by its length. Never throws.
 */
export function isSignatureOf(
  { hash, keyType, signatureBytes }: Algorithm,
  key: KeyObject,
  { input, signature }: { readonly input: Uint8Array; readonly signature: Uint8Array },
): boolean {
  if (signatureBytes !== undefined && signature.length !== signatureBytes) return false;
  try {
    return keyType === 'ec'
      ? verify(hash, input, { key, dsaEncoding: 'ieee-p1363' }, signature)
      : verify(hash, input, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    return false;
  }
}

/** The signature of `input` in the form JWS asks for. */
export function signatureOf({ hash, keyType }: Algorithm, key: KeyObject, input: Uint8Array): Buffer {
  return keyType === 'ec'
    ? sign(hash, input, { key, dsaEncoding: 'ieee-p1363' })
    : sign(hash, input, { key, padding: constants.RSA_PKCS1_PADDING });
}

/** Whether a signature can be one of this algorithm and key at all, whatever was signed. */
export function hasSignatureForm({ signatureBytes }: Algorithm, key: KeyObject, signature: Uint8Array): boolean {
  const bytes = signatureBytes ?? Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (signature.length !== bytes) return false;
  if (signatureBytes === undefined) return true;
  const half = signatureBytes / 2;
  return [signature.subarray(0, half), signature.subarray(half)].every((part) => part.some((byte) => byte !== 0));
}
