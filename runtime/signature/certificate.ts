/** One certificate: read once, strictly, from its DER, and remembered by its fingerprint. */

import { type KeyObject, X509Certificate } from 'node:crypto';
import { sha256Hex } from '../encoding/digest.ts';
import { checkDer, constructed, cursor, DerError, oidOf, only, smallIntegerOf, tags, timeOf } from './der.ts';
import { type Extensions, extensionsIn } from './extensions.ts';
import { createLru } from './lru.ts';

export interface Certificate extends Extensions {
  readonly der: Buffer;
  /** SHA-256 of the DER, hex. */
  readonly fingerprint: string;
  /** The names' own bytes as text: equal text is the same name (RFC 5280 section 7.1 would forgive spelling; nobody who issues needs that). */
  readonly issuer: string;
  readonly subject: string;
  /** Milliseconds since 1970; both belong to the time in which it is valid. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Object identifier of the algorithm its issuer signed it with. */
  readonly signatureAlgorithm: string;
  /** Undefined for keys that OpenSSL does not know. */
  readonly publicKey: KeyObject | undefined;
  /** Whether this key signed it. Names, dates and rights are not looked at. */
  isSignedBy(key: KeyObject): boolean;
}

/** More is no certificate of a workload: an RSA-4096 leaf with the longest SPIFFE ID has under 6 KiB. */
const mostBytes = 64 * 1024;
/** What a certificate weighs beside its DER: the native object, the key, the fields. */
const overhead = 6 * 1024;
const cache = createLru<Certificate | string>(16 * 1024 * 1024);

/** For measurements: what was read before is read again. */
export function forgetCertificates(): void {
  cache.clear();
}

/** The certificate that `der` is, all of it; a sentence without a full stop when it is none. Never throws. */
export function certificateOf(der: Buffer): Certificate | string {
  if (der.length > mostBytes) return `it is larger than ${mostBytes} bytes`;
  const fingerprint = sha256Hex(der);
  const known = cache.get(fingerprint);
  if (known !== undefined) return known;
  const certificate = readCertificate(der, fingerprint);
  cache.set(fingerprint, certificate, typeof certificate === 'string' ? 512 : der.length + overhead);
  return certificate;
}

function readCertificate(given: Buffer, fingerprint: string): Certificate | string {
  // A copy: a slice of a pool would keep the whole pool.
  const der = Buffer.from(new Uint8Array(given));
  try {
    checkDer(der);
    const fields = fieldsOf(der);
    const x509 = new X509Certificate(der);
    // OpenSSL forgives what follows a certificate; `raw` is what it took for one.
    if (!x509.raw.equals(der)) return 'it is not exactly one DER certificate';
    return {
      ...fields,
      der,
      fingerprint,
      publicKey: publicKeyOf(x509),
      isSignedBy: (key) => isSignedBy(x509, key),
    };
  } catch (error) {
    if (error instanceof DerError) return `it is no DER certificate: ${error.message}`;
    // What OpenSSL says is no sentence for people.
    return 'it is no certificate that can be read';
  }
}

type Fields = Omit<Certificate, 'der' | 'fingerprint' | 'publicKey' | 'isSignedBy'>;

/** RFC 5280 section 4.1, version 3. Throws `DerError`. */
function fieldsOf(der: Uint8Array): Fields {
  const outer = cursor(only(der, tags.sequence).content);
  const body = cursor(outer.required(tags.sequence).content);
  const outerAlgorithm = outer.required(tags.sequence);
  outer.required(tags.bitString);
  outer.end();
  const version = body.optional(constructed(0));
  if (version === undefined || smallIntegerOf(only(version.content, tags.integer)) !== 2) {
    throw new DerError('its version is not 3');
  }
  body.required(tags.integer);
  const algorithm = body.required(tags.sequence);
  const issuer = latin1(body.required(tags.sequence).encoded);
  const validity = cursor(body.required(tags.sequence).content);
  const notBefore = timeOf(validity.required(tags.utcTime, tags.generalizedTime));
  const notAfter = timeOf(validity.required(tags.utcTime, tags.generalizedTime));
  validity.end();
  const subject = latin1(body.required(tags.sequence).encoded);
  body.required(tags.sequence);
  body.optional(0x81);
  body.optional(0x82);
  const extensions = extensionsIn(body.optional(constructed(3))?.content);
  body.end();
  // RFC 5280 section 4.1.1.2: otherwise what was signed says one thing and what is read another.
  if (!Buffer.from(algorithm.encoded).equals(outerAlgorithm.encoded)) {
    throw new DerError('its inner and outer signature algorithms differ');
  }
  const signatureAlgorithm = oidOf(cursor(algorithm.content).required(tags.oid));
  return { ...extensions, issuer, subject, notBefore, notAfter, signatureAlgorithm };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function publicKeyOf(x509: X509Certificate): KeyObject | undefined {
  try {
    return x509.publicKey;
  } catch {
    return undefined;
  }
}

function isSignedBy(x509: X509Certificate, key: KeyObject): boolean {
  try {
    return x509.verify(key);
  } catch {
    return false;
  }
}
