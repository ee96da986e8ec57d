/** Certificate authorities and X.509-SVIDs as SPIRE issues them, with any dates a test wants. */

import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { signCard } from '../../runtime/signature/sign.ts';

export interface Authority {
  /** PEM, for a trust bundle. */
  readonly pem: string;
  /** Its key, PKCS#8, for a SPIRE below it. */
  readonly keyPem: string;
  /** Key and chain of a new leaf, PEM. Default dates: an hour around now. */
  issue(spiffeId: string, dates?: Dates): Promise<Svid>;
}

export interface Svid {
  readonly key: string;
  readonly chain: string;
}

export interface Dates {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hourMs = 3_600_000;

export async function createAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...span({ notBefore: new Date(Date.now() - 24 * hourMs), notAfter: new Date(Date.now() + 365 * 24 * hourMs) }),
    name: `C=US,O=SPIRE,CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    pem: `${root.toString('pem')}\n`,
    keyPem: pemOfKey(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    issue: async (spiffeId, dates = {}) => {
      const own = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const leaf = await x509.X509CertificateGenerator.create({
        ...span(dates),
        subject: 'C=US,O=SPIRE',
        issuer: root.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.SubjectAlternativeNameExtension([{ type: 'url', value: spiffeId }]),
        ],
      });
      const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
      return { key: pemOfKey(pkcs8), chain: `${leaf.toString('pem')}\n` };
    },
  };
}

function pemOfKey(pkcs8: ArrayBuffer): string {
  return x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
}

/** Certificates know whole seconds. */
function span({ notBefore, notAfter }: Dates) {
  const second = (date: Date): Date => new Date(Math.floor(date.getTime() / 1000) * 1000);
  return {
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: second(notBefore ?? new Date(Date.now() - 60_000)),
    notAfter: second(notAfter ?? new Date(Date.now() + hourMs)),
  };
}

/** The card as it is served when that SVID has signed it, as JSON. */
export function signedCard(card: object, svid: Svid): string {
  return JSON.stringify(signCard(Buffer.from(JSON.stringify(card)), svid).card);
}
