/** A real SPIRE under an authority of somebody else's: its own certificate stands between the leaf and the root. */

import assert from 'node:assert/strict';
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import test from 'node:test';
import * as x509 from '@peculiar/x509';
import { parseTrustBundle } from '../../runtime/signature/trust-bundle.ts';
import type { Upstream } from '../lab/spire/spire-files.ts';
import { startSpire } from '../lab/spire/spire.ts';
import { signedBy, verdict, word, workloadId } from './cards.ts';

const id = workloadId('cluster.local', 'team1', 'weather');

test('SG-05: a card signed under an upstream authority carries the intermediate, and is lost without it', async (t) => {
  const upstream = await upstreamAuthority('CN=Corporate Root');
  const spire = await startSpire({ name: 'upstream', upstream });
  t.after(() => spire.stop());
  await spire.createEntry(id);
  const svid = await spire.fetchSvid(id);
  assert.equal(svid.length, 2);

  const served = signedBy(svid);
  for (const bundle of [await spire.bundlePem(), await spire.bundleSpiffeJson()]) {
    const { anchors } = parseTrustBundle(bundle);
    assert.deepEqual(
      anchors.map(({ der }) => der.toString('base64')),
      [derOf(upstream.certificate)],
    );
    const verified = verdict(served, bundle);
    assert.ok(verified.isValid && verified.isBound, word(verified));
    assert.equal(verified.spiffeId, id);
  }

  const bundle = await spire.bundlePem();
  const leafAlone = signedBy({ ...svid, chain: svid.leaf.toString() });
  assert.equal(word(verdict(leafAlone, bundle)), 'untrusted-chain');
  const { certificate: namesake } = await upstreamAuthority('CN=Corporate Root');
  assert.equal(word(verdict(served, namesake)), 'untrusted-chain');
});

async function upstreamAuthority(name: string): Promise<Upstream> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' } as const;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 24 * 60 * 60 * 1000),
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { certificate: `${certificate.toString('pem')}\n`, key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}

const derOf = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
