/** The roots of a trust domain as the Workload API gives them: certificates in DER, one after the other, by trust domain. */

import { isJsonObject, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';
import { type Certificate, certificateOf } from '../../signature/certificate.ts';
import { elements } from '../../signature/der.ts';
import { plain } from '../../signature/refusal.ts';
import { isTrustDomain } from '../../signature/spiffe-id.ts';
import { answerIn } from './messages.ts';

export interface Bundle {
  /** In the order they came. */
  readonly certificates: readonly Certificate[];
  /** The same as PEM. */
  readonly pem: string;
}

/** What could be read, and a sentence for each part that could not. */
export interface Read<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/** By trust domain, sorted. */
export type ByTrustDomain<T> = ReadonlyMap<string, T>;

/** More are looked at nowhere: what is foreign costs a bounded time. */
const most = { bytes: 1024 * 1024, certificates: 100, trustDomains: 200 };
const jwksLimits = { bytes: 1024 * 1024, depth: 16 };

/** Certificates one after the other; one that cannot be read is left out. Never throws. */
export function derBundle(bytes: Uint8Array): Read<Bundle> {
  const parts = derParts(bytes);
  if (typeof parts === 'string') return { value: bundleOf([]), warnings: [parts] };
  const read = parts.slice(0, most.certificates).map((der, at) => {
    const certificate = certificateOf(der);
    return typeof certificate === 'string' ? `certificate ${at + 1} is left out: ${certificate}` : certificate;
  });
  const more = parts.length - most.certificates;
  const warnings = read.filter((each) => typeof each === 'string');
  return {
    value: bundleOf(read.filter((each) => typeof each !== 'string')),
    warnings: more > 0 ? [...warnings, `${more} certificates beyond ${most.certificates} are left out`] : warnings,
  };
}

/** The elements of DER that stand side by side, or a sentence. Never throws. */
export function derParts(bytes: Uint8Array): readonly Buffer[] | string {
  if (bytes.length > most.bytes) return `there are more than ${most.bytes} bytes of certificates`;
  try {
    return elements(bytes).map(({ encoded: { buffer, byteOffset, length } }) =>
      Buffer.from(buffer, byteOffset, length),
    );
  } catch {
    return 'these are no certificates in DER, one after the other';
  }
}

/** Certificates as PEM, in their order; empty for none. */
export function pemOf(certificates: readonly Pick<Certificate, 'der'>[]): string {
  return certificates
    .map(({ der }) => {
      const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
      return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
    })
    .join('');
}

function bundleOf(certificates: readonly Certificate[]): Bundle {
  return { certificates, pem: pemOf(certificates) };
}

/** An `X509BundlesResponse`; undefined when the bytes are none. Never throws. */
export function readX509Bundles(bytes: Uint8Array): Read<ByTrustDomain<Bundle>> | undefined {
  const answer = answerIn('X509BundlesResponse', bytes);
  return answer === undefined ? undefined : x509Bundles(answer.bundles);
}

/** A `JWTBundlesResponse`: a JWK set each; undefined when the bytes are none. Never throws. */
export function readJwtBundles(bytes: Uint8Array): Read<ByTrustDomain<JsonObject>> | undefined {
  const answer = answerIn('JWTBundlesResponse', bytes);
  return answer === undefined ? undefined : byTrustDomain(answer.bundles, keySet);
}

/** Bundles by trust domain; one without a certificate that can be read is left out. Never throws. */
export function x509Bundles(bundles: Readonly<Record<string, Uint8Array>>): Read<ByTrustDomain<Bundle>> {
  return byTrustDomain(bundles, (bytes) => {
    const { value, warnings } = derBundle(bytes);
    return value.certificates.length > 0 ? { value, warnings } : (warnings[0] ?? 'it is empty');
  });
}

function keySet(bytes: Uint8Array): Read<JsonObject> | string {
  const parsed = parseStrictJson(bytes, jwksLimits);
  if ('fault' in parsed) return parsed.fault.message;
  const isSet = isJsonObject(parsed.value) && Array.isArray(parsed.value['keys']);
  return isSet ? { value: parsed.value as JsonObject, warnings: [] } : 'it is no JWK set';
}

/** The agent names a domain by its ID, `spiffe://example.org`, or by its bare name. */
function byTrustDomain<T>(
  bundles: Readonly<Record<string, Uint8Array>>,
  read: (bytes: Uint8Array) => Read<T> | string,
): Read<ByTrustDomain<T>> {
  const entries = Object.entries(bundles).sort(([a], [b]) => (a < b ? -1 : 1));
  const value = new Map<string, T>();
  const warnings: string[] = [];
  for (const [key, bytes] of entries.slice(0, most.trustDomains)) {
    const name = key.replace(/^spiffe:\/\//, '');
    const found = isTrustDomain(name) ? read(bytes) : 'this is no name of a trust domain';
    const of = `the bundle of ${plain(name, 255)}`;
    if (typeof found === 'string') warnings.push(`${of} is left out: ${found}`);
    else {
      value.set(name, found.value);
      warnings.push(...found.warnings.map((warning) => `${of}: ${warning}`));
    }
  }
  const more = entries.length - most.trustDomains;
  if (more > 0) warnings.push(`${more} bundles beyond ${most.trustDomains} are left out`);
  return { value, warnings };
}
