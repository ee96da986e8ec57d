/** Reads an `X509SVIDResponse` strictly: the default SVID with its key and the roots that go with it, or why it cannot be used. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Certificate, certificateOf } from '../../signature/certificate.ts';
import { leafRefusal } from '../../signature/certificate-rules.ts';
import { mostCertificates } from '../../signature/chain.ts';
import { plain } from '../../signature/refusal.ts';
import { parseSpiffeId, type SpiffeId, spiffeIdOf } from '../../signature/spiffe-id.ts';
import { type Bundle, type ByTrustDomain, derBundle, derParts, pemOf, x509Bundles } from './bundle.ts';
import { answerIn } from './messages.ts';

export interface X509Svid {
  /** `spiffe://cluster.local/ns/team1/sa/weather`. */
  readonly spiffeId: string;
  readonly trustDomain: string;
  /** The leaf first, then each issuer; the root is in `bundle`. */
  readonly chain: readonly Certificate[];
  readonly chainPem: string;
  /** PKCS#8. A secret: for Envoy and for files, never for a log. */
  readonly keyPem: string;
  /** The first end in the chain, milliseconds since 1970; it belongs to the validity. */
  readonly notAfter: number;
  /** The roots of its own trust domain; never empty. */
  readonly bundle: Bundle;
  /** Those of the trust domains it is federated with; its own is never among them. */
  readonly federated: ByTrustDomain<Bundle>;
  /** A sentence for each root that could not be read. */
  readonly warnings: readonly string[];
}

/** Why an answer of the agent is not used; also a label of metrics. */
export const svidReasons = Object.freeze([
  'malformed-message',
  'no-svid',
  'invalid-spiffe-id',
  'trust-domain-mismatch',
  'malformed-certificate',
  'unfit-certificate',
  'spiffe-id-mismatch',
  'malformed-key',
  'key-mismatch',
  'no-bundle',
] as const);

export type SvidReason = (typeof svidReasons)[number];

export interface SvidRefusal {
  readonly reason: SvidReason;
  /** A sentence without a full stop; nothing of the key is ever in it. */
  readonly detail: string;
}

type SvidMessage = NonNullable<ReturnType<typeof answerIn<'X509SVIDResponse'>>>['svids'][number];

/**
 * The first SVID, which the standard calls the default one. `trustDomain`: the one it must be of; undefined: any. Dates are not looked at: time
 * goes on after the reading. Never throws.
 */
export function readX509Svid(bytes: Uint8Array, trustDomain: string | undefined): X509Svid | SvidRefusal {
  const answer = answerIn('X509SVIDResponse', bytes);
  if (answer === undefined) return refused('malformed-message', 'it is no X509SVIDResponse');
  const [message] = answer.svids;
  if (message === undefined) return refused('no-svid', 'it holds no SVID');
  const id = idOf(message, trustDomain);
  if ('reason' in id) return id;
  const chain = chainOf(message, id);
  if ('reason' in chain) return chain;
  const key = keyOf(message, chain);
  if ('reason' in key) return key;
  return withBundles({ ...id, ...chain, ...key }, message, answer.federatedBundles);
}

export function isSvidRefusal(read: X509Svid | SvidRefusal): read is SvidRefusal {
  return 'reason' in read;
}

function refused(reason: SvidReason, detail: string): SvidRefusal {
  return { reason, detail: plain(detail, 600) };
}

type Named = Pick<X509Svid, 'spiffeId' | 'trustDomain'>;

function idOf({ spiffeId }: SvidMessage, trustDomain: string | undefined): Named | SvidRefusal {
  const id: SpiffeId | undefined = parseSpiffeId(spiffeId);
  if (id === undefined) {
    return refused('invalid-spiffe-id', `${JSON.stringify(plain(spiffeId, 200))} is no SPIFFE ID of a workload`);
  }
  if (trustDomain !== undefined && id.trustDomain !== trustDomain) {
    return refused(
      'trust-domain-mismatch',
      `${spiffeId} is of the trust domain ${id.trustDomain}, and the platform's is ${trustDomain}: set spiffe.trustDomain to what SPIRE serves`,
    );
  }
  return { spiffeId: id.text, trustDomain: id.trustDomain };
}

type Chain = Pick<X509Svid, 'chain' | 'chainPem' | 'notAfter'>;

function chainOf({ x509Svid }: SvidMessage, { spiffeId }: Named): Chain | SvidRefusal {
  const chain = certificatesOf(x509Svid);
  if (typeof chain === 'string') return refused('malformed-certificate', `the certificates of ${spiffeId}: ${chain}`);
  const [leaf] = chain;
  if (leaf === undefined) return refused('malformed-certificate', `${spiffeId} comes without a certificate`);
  // Of the authorities behind it nothing is demanded: whoever verifies judges them, and the agent is the one that knows.
  const unfit = leafRefusal({ certificate: leaf, name: 'the leaf certificate' });
  if (unfit !== undefined) return refused('unfit-certificate', unfit.detail);
  const found = spiffeIdOf(leaf);
  if ('reason' in found) return refused('spiffe-id-mismatch', found.detail);
  if (found.text !== spiffeId) {
    return refused('spiffe-id-mismatch', `the agent says ${spiffeId} and the certificate ${found.text}`);
  }
  return { chain, chainPem: pemOf(chain), notAfter: Math.min(...chain.map(({ notAfter }) => notAfter)) };
}

function certificatesOf(bytes: Uint8Array): readonly Certificate[] | string {
  const parts = derParts(bytes);
  if (typeof parts === 'string') return parts;
  if (parts.length > mostCertificates) return `there are ${parts.length}; at most ${mostCertificates} are looked at`;
  const read = parts.map(certificateOf);
  return read.find((each) => typeof each === 'string') ?? read.filter((each) => typeof each !== 'string');
}

function keyOf({ x509SvidKey }: SvidMessage, { chain }: Chain): Pick<X509Svid, 'keyPem'> | SvidRefusal {
  const key = privateKeyOf(x509SvidKey);
  if (key === undefined) return refused('malformed-key', 'its key cannot be read as PKCS#8');
  const certified = chain[0]?.publicKey;
  // Otherwise no handshake would succeed, and it would be told of every connection instead of here.
  if (certified === undefined || !createPublicKey(key).equals(certified)) {
    return refused('key-mismatch', 'its key is not the one that its certificate is for');
  }
  return { keyPem: key.export({ format: 'pem', type: 'pkcs8' }) };
}

function privateKeyOf(bytes: Uint8Array): KeyObject | undefined {
  try {
    return createPrivateKey({ key: Buffer.from(bytes), format: 'der', type: 'pkcs8' });
  } catch {
    return undefined;
  }
}

function withBundles(
  svid: Omit<X509Svid, 'bundle' | 'federated' | 'warnings'>,
  message: SvidMessage,
  federatedBundles: Readonly<Record<string, Uint8Array>>,
): X509Svid | SvidRefusal {
  const own = derBundle(message.bundle);
  if (own.value.certificates.length === 0) {
    return refused('no-bundle', `the trust bundle of ${svid.trustDomain}: ${own.warnings[0] ?? 'it is empty'}`);
  }
  const federated = x509Bundles(federatedBundles);
  // A second bundle under its own name must not widen whom it trusts there.
  const others = new Map([...federated.value].filter(([domain]) => domain !== svid.trustDomain));
  return {
    ...svid,
    bundle: own.value,
    federated: others,
    warnings: [
      ...own.warnings.map((warning) => `the bundle of ${svid.trustDomain}: ${warning}`),
      ...federated.warnings,
    ],
  };
}
