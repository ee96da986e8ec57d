/** Makes a certificate authority and the serving certificates it signs (ECDSA P-256), and reads what certificates say. */

import 'reflect-metadata';
import { X509Certificate, createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { ServingCertificate } from './server.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** From when until when a certificate holds. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface LeafRequest extends Validity {
  readonly authority: ServingCertificate;
  /** The first is also the common name. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** A self-signed authority that may sign leaves and no further authority. Two of one name are told apart by their key identifier. */
export async function makeAuthority(commonName: string, validity: Validity): Promise<ServingCertificate> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: [commonName] }],
      keys,
      ...validity,
      serialNumber: serialNumber(),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, provider),
      ],
    },
    provider,
  );
  return pair(certificate, keys.privateKey);
}

/** A serving certificate. It never outlives its authority. */
export async function makeLeaf(request: LeafRequest): Promise<ServingCertificate> {
  const issuer = new x509.X509Certificate(request.authority.certificate);
  const keys = await generateKeys();
  const names = [
    ...request.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...(request.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: [{ CN: [(request.dnsNames[0] ?? request.ipAddresses?.[0] ?? '').slice(0, 64)] }],
      issuer: issuer.subjectName,
      publicKey: keys.publicKey,
      signingKey: await importKey(request.authority.key),
      notBefore: request.notBefore,
      notAfter: request.notAfter < issuer.notAfter ? request.notAfter : issuer.notAfter,
      serialNumber: serialNumber(),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names),
        await x509.AuthorityKeyIdentifierExtension.create(issuer, false, provider),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, provider),
      ],
    },
    provider,
  );
  return pair(certificate, keys.privateKey);
}

const provider = webcrypto as unknown as Crypto;

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return provider.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** 127 random bits: positive, as RFC 5280 4.1.2.2 wants it. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

async function pair(certificate: x509.X509Certificate, key: CryptoKey): Promise<ServingCertificate> {
  const pkcs8 = await provider.subtle.exportKey('pkcs8', key);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}

function importKey(pem: string): Promise<CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return provider.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, false, ['sign']);
}

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The certificates in PEM text, in their order; blocks that cannot be read are left out. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return [...pem.matchAll(pemBlock)].flatMap(([block]) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

/** Why a certificate and a key cannot be served as they are, or undefined. */
export function faultOf({ certificate, key }: ServingCertificate): string | undefined {
  const [leaf] = certificatesIn(certificate);
  if (leaf === undefined) return 'there is no certificate';
  try {
    return leaf.checkPrivateKey(createPrivateKey(key)) ? undefined : 'the key is not that of the certificate';
  } catch {
    return 'the key cannot be read';
  }
}

/** Whether some authority in `bundle` (PEM), valid at `now`, signed the first certificate in `chain` (PEM), itself valid then. */
export function isTrusted(chain: string, bundle: string, now: Date): boolean {
  const [leaf] = certificatesIn(chain);
  if (leaf === undefined || !isValid(leaf, now)) return false;
  return certificatesIn(bundle).some((authority) => isValid(authority, now) && isIssuedBy(leaf, authority));
}

export function isValid(certificate: X509Certificate, now: Date): boolean {
  return certificate.validFromDate <= now && now < certificate.validToDate;
}

export function isIssuedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  return authority.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
}
