/** Certificates of authorities as a setting holds them: PEM, one after the other. */

import { X509Certificate } from 'node:crypto';

const most = 64;
const block = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/** Why a text is no list of certificates; undefined: nothing, or it is empty. What stands between blocks is a comment. */
export function authoritiesProblem(pem: string): string | undefined {
  if (pem.trim() === '') return undefined;
  const blocks = [...pem.matchAll(block)];
  const other = blocks.find(([, label]) => label !== 'CERTIFICATE');
  if (other !== undefined) return `holds a ${other[1]}; only certificates belong there`;
  if (blocks.length === 0) return 'holds no certificate: write PEM, from -----BEGIN CERTIFICATE----- on';
  if (pem.replaceAll(block, '').includes('-----'))
    return 'holds a certificate that is cut off: a BEGIN or END is missing';
  if (blocks.length > most) return `holds ${blocks.length} certificates; ${most} may be`;
  const broken = blocks.findIndex(([text]) => !isCertificate(text));
  return broken === -1 ? undefined : `certificate ${broken + 1} cannot be read`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
