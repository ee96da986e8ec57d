/** What is demanded of one certificate, by its place in the path (RFC 5280 section 6.1, X509-SVID section 4). */

import { keyWeakness } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { keyUsages } from './extensions.ts';
import { type Refusal, refusal } from './refusal.ts';

/** A certificate with how to call it: `the leaf certificate`, `certificate 2 of x5c`, `the trust anchor`. */
export interface Placed {
  readonly certificate: Certificate;
  readonly name: string;
}

/** RSA PKCS #1 and ECDSA with SHA-256, SHA-384 and SHA-512. */
const signatureAlgorithms: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
]);

/** Of every certificate of the path. */
export function extensionRefusal({ certificate: { unknownCritical }, name }: Placed): Refusal | undefined {
  if (unknownCritical === undefined) return undefined;
  return refusal(
    'unsupported-critical-extension',
    `${name} has the critical extension ${unknownCritical}, which is not understood`,
  );
}

/** Of the leaf: an X.509-SVID of a workload. Extended key usage is not looked at; the leaf's own key is judged with the algorithm. */
export function leafRefusal(placed: Placed): Refusal | undefined {
  const { certificate, name } = placed;
  const { isCa, keyUsage } = certificate;
  if (isCa) return refusal('leaf-is-ca', `${name} is a certificate authority, which may not sign cards`);
  if (keyUsage === undefined) return refusal('leaf-key-usage', `${name} has no key usage; an X.509-SVID must state it`);
  if ((keyUsage & keyUsages.digitalSignature) === 0) {
    return refusal('leaf-key-usage', `${name} is not for digital signatures (key usage)`);
  }
  if ((keyUsage & (keyUsages.keyCertSign | keyUsages.cRLSign)) !== 0) {
    return refusal('leaf-key-usage', `${name} may sign certificates or revocation lists, which an X.509-SVID may not`);
  }
  return extensionRefusal(placed);
}

/** Of every authority, the anchor too. */
export function authorityRefusal(placed: Placed): Refusal | undefined {
  const { certificate, name } = placed;
  if (!certificate.isCa) return refusal('intermediate-not-ca', `${name} is no certificate authority`);
  if (certificate.keyUsage !== undefined && (certificate.keyUsage & keyUsages.keyCertSign) === 0) {
    return refusal('intermediate-not-ca', `${name} may not sign certificates (key usage)`);
  }
  const weakness = keyWeakness(certificate.publicKey);
  if (weakness !== undefined) return refusal('weak-key', `the key of ${name} ${weakness}`);
  return extensionRefusal(placed);
}

/** Of everything that somebody else signed: all but the anchor, which is trusted as it is. */
export function signatureAlgorithmRefusal({ certificate, name }: Placed): Refusal | undefined {
  if (signatureAlgorithms.has(certificate.signatureAlgorithm)) return undefined;
  return refusal(
    'weak-signature-algorithm',
    `${name} is signed with ${certificate.signatureAlgorithm}; RSA and ECDSA with SHA-256, SHA-384 or SHA-512 count`,
  );
}

/** Both ends belong to the validity (RFC 5280 section 4.1.2.5); no leeway. */
export function dateRefusal({ certificate: { notBefore, notAfter }, name }: Placed, now: number): Refusal | undefined {
  if (now < notBefore) return refusal('not-yet-valid', `${name} is valid only from ${dateText(notBefore)} on`);
  return now > notAfter ? refusal('expired', `${name} ended at ${dateText(notAfter)}`) : undefined;
}

function dateText(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}
