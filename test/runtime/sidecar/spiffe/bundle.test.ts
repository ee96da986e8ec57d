import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { derBundle, readJwtBundles, readX509Bundles } from '../../../../runtime/sidecar/spiffe/bundle.ts';
import { bundlesResponse, ders, foreignRoot, root } from './answers.ts';

test('bundles of several trust domains are read, sorted, as certificates and PEM', () => {
  const read = readX509Bundles(
    bundlesResponse('X509', {
      'spiffe://partner.example': foreignRoot.der,
      'spiffe://example.org': ders(root, foreignRoot),
    }),
  );
  assert.deepEqual(
    [...(read?.value ?? [])].map(([domain, { pem }]) => [domain, pem]),
    [
      ['example.org', root.pem + foreignRoot.pem],
      ['partner.example', foreignRoot.pem],
    ],
  );
  assert.deepEqual(read?.warnings, []);
});

test('JWK sets are read by trust domain; what is none is left out and named', () => {
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  const read = readJwtBundles(
    bundlesResponse('JWT', {
      'spiffe://a.example': text({ keys: [{ kid: 'k' }] }),
      'spiffe://b.example': text({ keys: 'none' }),
      'spiffe://c.example': Buffer.from('{"keys": [], "keys": []}'),
    }),
  );
  assert.deepEqual([...(read?.value ?? [])], [['a.example', { keys: [{ kid: 'k' }] }]]);
  assert.match(
    read?.warnings.join('\n') ?? '',
    /^the bundle of b\.example is left out: it is no JWK set\nthe bundle of c\.example is left out: .*twice/,
  );
});

test('more certificates and trust domains than are looked at are left out and counted', () => {
  const many = derBundle(ders(...Array.from({ length: 103 }, () => root)));
  assert.equal(many.value.certificates.length, 100);
  assert.deepEqual(many.warnings, ['3 certificates beyond 100 are left out']);
  const domains = Object.fromEntries(Array.from({ length: 205 }, (_, at) => [`spiffe://d${at}.example`, root.der]));
  const read = readX509Bundles(bundlesResponse('X509', domains));
  assert.equal(read?.value.size, 200);
  assert.deepEqual(read?.warnings, ['5 bundles beyond 200 are left out']);
});

test('what is no message is nothing, and random bytes never throw', () => {
  assert.equal(readX509Bundles(Buffer.from([0xff])), undefined);
  assert.equal(readJwtBundles(Buffer.from([0xff])), undefined);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      readX509Bundles(bytes);
      readJwtBundles(bytes);
      return derBundle(bytes).value.certificates.length === 0;
    }),
  );
});
