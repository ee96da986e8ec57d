/** The authorities that clients shall trust, as one PEM text that comes out the same on every replica. */

import type { X509Certificate } from 'node:crypto';
import { certificatesIn, isIssuedBy, isValid } from './certificate-authority.ts';

export interface BundleRules {
  /** Only authorities of this common name are kept: ours, not what somebody else put in the same place. */
  readonly commonName: string;
  readonly now: Date;
}

/** A bundle never grows beyond this, whatever was found. */
const most = 5;

/** The valid authorities of one name out of several PEM texts: each once, the newest first, at most five. */
export function bundleOf(texts: readonly string[], { commonName, now }: BundleRules): string {
  const found = new Map<string, X509Certificate>();
  for (const certificate of texts.flatMap(certificatesIn)) {
    const isOurs = certificate.ca && subjectName(certificate) === commonName;
    if (isOurs && isValid(certificate, now)) found.set(certificate.fingerprint256, certificate);
  }
  return [...found.values()].sort(newestFirst).slice(0, most).join('');
}

function subjectName({ subject }: X509Certificate): string | undefined {
  return /^CN=(.*)$/m.exec(subject)?.[1];
}

function newestFirst(one: X509Certificate, other: X509Certificate): number {
  const byDate = other.validFromDate.getTime() - one.validFromDate.getTime();
  return byDate === 0 ? one.fingerprint256.localeCompare(other.fingerprint256) : byDate;
}

/** The fingerprint of the authority in `bundle` that signed the first certificate of `chain`, valid or not. */
export function issuerIn(bundle: string, chain: string): string | undefined {
  const [leaf] = certificatesIn(chain);
  if (leaf === undefined) return undefined;
  return certificatesIn(bundle).find((authority) => isIssuedBy(leaf, authority))?.fingerprint256;
}
