/** Our reader of certificates against @peculiar/x509 on every certificate there is, and against spoiled ones. */

import 'reflect-metadata';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import * as x509 from '@peculiar/x509';
import * as fc from 'fast-check';
import type { Json } from '../../../runtime/encoding/strict-json.ts';
import { type Certificate, certificateOf } from '../../../runtime/signature/certificate.ts';
import { keyUsages } from '../../../runtime/signature/extensions.ts';
import { readCard } from '../../../runtime/signature/document.ts';
import { bytesOf, vectors } from './vectors.ts';

/** Every certificate in a vector's x5c, once. */
function allCertificates(): readonly Buffer[] {
  const found = new Map<string, Buffer>();
  for (const { file } of vectors) {
    const read = readCard(bytesOf(file));
    const signatures =
      'card' in read && Array.isArray(read.card['signatures']) ? (read.card['signatures'] as readonly Json[]) : [];
    for (const entry of signatures) for (const text of x5cOf(entry)) found.set(text, Buffer.from(text, 'base64'));
  }
  return [...found.values()];
}

function x5cOf(entry: Json): readonly string[] {
  try {
    const { protected: encoded } = entry as { readonly protected: string };
    const { x5c } = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as { readonly x5c: readonly unknown[] };
    return x5c.filter((each) => typeof each === 'string');
  } catch {
    return [];
  }
}

const certificates = allCertificates();
const readable = certificates.map(certificateOf).filter((each): each is Certificate => typeof each !== 'string');

test('what we read of a certificate is what @peculiar/x509 and OpenSSL read', () => {
  assert.ok(readable.length > 60, `${readable.length} certificates`);
  for (const ours of readable) {
    const theirs = new x509.X509Certificate(new Uint8Array(ours.der));
    const openssl = new X509Certificate(ours.der);
    assert.equal(ours.notBefore, theirs.notBefore.getTime());
    assert.equal(ours.notAfter, theirs.notAfter.getTime());
    assert.equal(ours.fingerprint, openssl.fingerprint256.replaceAll(':', '').toLowerCase());
    assert.equal(ours.subject, Buffer.from(theirs.subjectName.toArrayBuffer()).toString('latin1'));
    assert.equal(ours.issuer, Buffer.from(theirs.issuerName.toArrayBuffer()).toString('latin1'));
    const basic = theirs.getExtension(x509.BasicConstraintsExtension);
    assert.equal(ours.isCa, basic?.ca ?? false);
    assert.equal(ours.pathLength, basic?.pathLength);
    const usages = theirs.getExtension(x509.KeyUsagesExtension)?.usages;
    assert.equal(ours.keyUsage === undefined, usages === undefined);
    for (const [name, flag] of [
      ['digitalSignature', x509.KeyUsageFlags.digitalSignature],
      ['keyCertSign', x509.KeyUsageFlags.keyCertSign],
      ['cRLSign', x509.KeyUsageFlags.cRLSign],
    ] as const) {
      assert.equal(((ours.keyUsage ?? 0) & keyUsages[name]) !== 0, ((usages ?? 0) & flag) !== 0, name);
    }
    const names = theirs.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
    assert.deepEqual(
      ours.names.uris,
      names.filter(({ type }) => type === 'url').map(({ value }) => value),
    );
    const key = theirs.getExtension(x509.SubjectKeyIdentifierExtension);
    assert.equal(ours.subjectKey, key?.keyId);
  }
});

test('no byte can be appended, removed or changed without the certificate being another one or none', () => {
  const [sample] = readable;
  assert.ok(sample !== undefined);
  const { der, fingerprint } = sample;
  assert.equal(typeof certificateOf(Buffer.concat([der, Buffer.from([0])])), 'string');
  assert.equal(typeof certificateOf(der.subarray(0, -1)), 'string');
  for (let at = 0; at < der.length; at++) {
    const changed = Buffer.from(der);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    const read = certificateOf(changed);
    if (typeof read !== 'string') assert.notEqual(read.fingerprint, fingerprint);
  }
});

test('random bytes, whole or in the middle of a certificate, never throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...certificates), fc.nat(), fc.uint8Array({ maxLength: 40 }), (der, at, bytes) => {
      const cut = at % der.length;
      const read = certificateOf(Buffer.concat([der.subarray(0, cut), bytes, der.subarray(cut + bytes.length)]));
      assert.ok(typeof read === 'string' ? read.length > 10 : read.der.length > 0);
      assert.equal(typeof certificateOf(Buffer.from(bytes)), 'string');
    }),
    { numRuns: 500 },
  );
});

test('a certificate of more than 64 KiB is none, and one read before is the same object', () => {
  assert.equal(certificateOf(Buffer.alloc(64 * 1024 + 1)), 'it is larger than 65536 bytes');
  const [der = Buffer.alloc(0)] = certificates;
  assert.equal(certificateOf(der), certificateOf(Buffer.from(der)));
});
