// Makes the certificate authorities, certificates and keys of one cluster.
import 'reflect-metadata';
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const dayMs = 24 * 60 * 60 * 1000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

interface Authority {
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Leaf {
  readonly file: string;
  readonly subject: x509.JsonName;
  /** DNS names and IP addresses; none for a client certificate. */
  readonly hosts: readonly string[];
}

/** What a cluster's certificates depend on. */
export interface CertificateSubjects {
  /** DNS names and IP addresses the API server is reached by. */
  readonly apiServerHosts: readonly string[];
  /** The node's name and address; undefined without a node. */
  readonly node?: { readonly name: string; readonly address: string };
}

/** Writes `ca`, `front-proxy-ca`, every component's certificate and the service-account keys into `dir`. */
export async function writeCertificates(dir: string, subjects: CertificateSubjects): Promise<void> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const clusterAuthority = await writeAuthority(dir, 'ca');
  const frontProxyAuthority = await writeAuthority(dir, 'front-proxy-ca');
  const leaves = clusterLeaves(subjects).map((leaf) => writeLeaf(dir, clusterAuthority, leaf));
  const frontProxyClient = { file: 'front-proxy-client', subject: [{ CN: ['front-proxy-client'] }], hosts: [] };
  await Promise.all([...leaves, writeLeaf(dir, frontProxyAuthority, frontProxyClient)]);
  writeServiceAccountKeys(dir);
}

function clusterLeaves({ apiServerHosts, node }: CertificateSubjects): readonly Leaf[] {
  const client = (file: string, user: string, group?: string): Leaf => ({
    file,
    subject: [...(group === undefined ? [] : [{ O: [group] }]), { CN: [user] }],
    hosts: [],
  });
  const nodeLeaves = node && [
    { ...client('kubelet', `system:node:${node.name}`, 'system:nodes'), hosts: [node.name, node.address] },
    client('kube-proxy', 'system:kube-proxy'),
  ];
  return [
    { file: 'kube-apiserver', subject: [{ CN: ['kube-apiserver'] }], hosts: apiServerHosts },
    client('kube-apiserver-kubelet-client', 'kube-apiserver-kubelet-client', 'system:masters'),
    client('kube-controller-manager', 'system:kube-controller-manager'),
    client('kube-scheduler', 'system:kube-scheduler'),
    client('admin', 'lab-admin', 'system:masters'),
    ...(nodeLeaves ?? []),
  ];
}

async function writeAuthority(dir: string, name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: `CN=rossoctl-lab-${name}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
    ],
  });
  await writePair(dir, name, certificate, keys.privateKey);
  return { name: certificate.subject, keys };
}

async function writeLeaf(dir: string, authority: Authority, leaf: Leaf): Promise<void> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = leaf.hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(),
    subject: leaf.subject,
    issuer: authority.name,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  await writePair(dir, leaf.file, certificate, keys.privateKey);
}

// A day back, so that a client whose clock is behind accepts it.
function validity(): { readonly serialNumber: string; readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  const serialNumber = `01${randomBytes(15).toString('hex')}`;
  return { serialNumber, notBefore: new Date(now - dayMs), notAfter: new Date(now + 365 * dayMs) };
}

async function writePair(dir: string, file: string, certificate: x509.X509Certificate, key: webcrypto.CryptoKey) {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', key);
  writeFileSync(join(dir, `${file}.crt`), `${certificate.toString('pem')}\n`);
  writeFileSync(join(dir, `${file}.key`), `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`, { mode: 0o600 });
}

function writeServiceAccountKeys(dir: string): void {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(dir, 'service-account.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(dir, 'service-account.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
}
