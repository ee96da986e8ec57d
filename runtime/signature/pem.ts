/** The certificates in PEM text, one by one: a block that cannot be read hides no other. */

import { bytesOfBase64 } from '../encoding/base64.ts';
import { type Certificate, certificateOf } from './certificate.ts';

export interface PemCertificates {
  /** In the order of the text. */
  readonly certificates: readonly Certificate[];
  /** A sentence for each block CERTIFICATE that cannot be read. */
  readonly faults: readonly string[];
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/** Blocks of other kinds and the text between blocks are passed over. Never throws. */
export function pemCertificates(text: string): PemCertificates {
  const [, ...blocks] = text.split(begin);
  const read = blocks.map((block, at) => {
    const until = block.indexOf(end);
    const found = until < 0 ? 'it has no end' : certificateIn(block.slice(0, until).replaceAll(/\s+/g, ''));
    return typeof found === 'string' ? `PEM block ${at + 1} is left out: ${found}` : found;
  });
  return {
    certificates: read.filter((each) => typeof each !== 'string'),
    faults: read.filter((each) => typeof each === 'string'),
  };
}

/** A certificate in plain base64, or why it is none. */
export function certificateIn(base64: string): Certificate | string {
  const der = bytesOfBase64(base64);
  return der === undefined ? 'it is no base64' : certificateOf(der);
}
