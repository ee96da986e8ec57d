import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isSvidRefusal, readX509Svid, svidReasons, type SvidReason } from '../../../../runtime/sidecar/spiffe/svid.ts';
import { basicConstraints, issue, keyUsage, svidExtensions, uris, usage } from '../../signature/pki.ts';
import {
  ders,
  foreignRoot,
  id,
  intermediate,
  keyPem,
  leaf,
  leafOf,
  makeKeys,
  pkcs8,
  root,
  svidFields,
  svidResponse,
} from './answers.ts';

const read = (bytes: Uint8Array, trustDomain: string | undefined = 'example.org') => {
  const svid = readX509Svid(bytes, trustDomain);
  return isSvidRefusal(svid) ? assert.fail(svid.detail) : svid;
};

test('a whole answer is read: identity, chain, key, roots', () => {
  const svid = read(svidResponse());
  assert.equal(svid.spiffeId, id);
  assert.equal(svid.trustDomain, 'example.org');
  assert.deepEqual(
    svid.chain.map(({ der }) => der),
    [leaf.der, intermediate.der],
  );
  assert.equal(svid.chainPem, leaf.pem + intermediate.pem);
  assert.equal(svid.keyPem, keyPem(leaf));
  assert.equal(svid.bundle.pem, root.pem);
  assert.deepEqual([svid.federated.size, svid.warnings], [0, []]);
  assert.ok(new X509Certificate(svid.chainPem).checkPrivateKey(createPrivateKey(svid.keyPem)));
});

test('it ends with the first of its chain', () => {
  const short = leafOf({ notAfter: '2030-01-01T00:00:00Z' });
  assert.equal(read(svidResponse([svidFields(short)])).notAfter, Date.parse('2030-01-01T00:00:00Z'));
  const brief = issue({
    subject: 'CN=brief',
    issuer: root,
    notAfter: '2029-01-01T00:00:00Z',
    extensions: [basicConstraints(true), keyUsage(usage.keyCertSign)],
  });
  const below = leafOf({ issuer: brief });
  const fields = svidFields(below, { x509Svid: ders(below, brief) });
  assert.equal(read(svidResponse([fields])).notAfter, Date.parse('2029-01-01T00:00:00Z'));
});

test('of several SVIDs the first counts', () => {
  const other = leafOf({ extensions: svidExtensions('spiffe://example.org/other') });
  const second = svidFields(other, { spiffeId: 'spiffe://example.org/other' });
  assert.equal(read(svidResponse([svidFields(), second])).spiffeId, id);
  assert.equal(read(svidResponse([second, svidFields()])).spiffeId, 'spiffe://example.org/other');
});

test('without a trust domain to be of, any will do', () => {
  assert.equal(read(svidResponse(), undefined).trustDomain, 'example.org');
});

test('RSA keys are taken too', () => {
  const rsa = leafOf({ keys: makeKeys('RSA-2048') });
  assert.equal(read(svidResponse([svidFields(rsa)])).keyPem, keyPem(rsa));
});

test('federated bundles are kept by trust domain; what cannot be read is left out and named', () => {
  const svid = read(
    svidResponse([svidFields()], {
      'spiffe://partner.example': ders(foreignRoot, root),
      'bare.example': foreignRoot.der,
      'spiffe://example.org': foreignRoot.der,
      'spiffe://broken.example': Buffer.from('no certificate'),
      'spiffe://Not A Domain': foreignRoot.der,
      __proto__: foreignRoot.der,
    }),
  );
  assert.deepEqual([...svid.federated.keys()], ['bare.example', 'partner.example']);
  assert.equal(svid.federated.get('partner.example')?.pem, foreignRoot.pem + root.pem);
  assert.deepEqual(svid.warnings, [
    'the bundle of Not A Domain is left out: this is no name of a trust domain',
    'the bundle of broken.example is left out: these are no certificates in DER, one after the other',
  ]);
  assert.equal(svid.bundle.pem, root.pem);
});

test('a root that cannot be read is left out while another is there', () => {
  const svid = read(svidResponse([svidFields(leaf, { bundle: Buffer.concat([root.der, Buffer.from([0x30, 0])]) })]));
  assert.equal(svid.bundle.pem, root.pem);
  assert.match(svid.warnings.join(), /^the bundle of example\.org: certificate 2 is left out/);
});

const authority = leafOf({ extensions: [basicConstraints(true), keyUsage(usage.keyCertSign), uris(id)] });
const twoNames = leafOf({
  extensions: [basicConstraints(false), keyUsage(usage.digitalSignature), uris(id, `${id}2`)],
});
const noName = leafOf({ extensions: [basicConstraints(false), keyUsage(usage.digitalSignature)] });
const stranger = leafOf({ extensions: svidExtensions('spiffe://example.org/stranger') });

const refused: readonly (readonly [what: string, bytes: Uint8Array, reason: SvidReason, says: RegExp])[] = [
  ['bytes that are no message', Buffer.from('\xff\xff', 'latin1'), 'malformed-message', /no X509SVIDResponse/],
  ['no SVID at all', svidResponse([]), 'no-svid', /no SVID/],
  ['no SPIFFE ID', svidResponse([svidFields(leaf, { spiffeId: '' })]), 'invalid-spiffe-id', /"" is no SPIFFE ID/],
  [
    'the ID of a trust domain',
    svidResponse([svidFields(leaf, { spiffeId: 'spiffe://example.org' })]),
    'invalid-spiffe-id',
    /no SPIFFE ID of a workload/,
  ],
  [
    'no certificate',
    svidResponse([svidFields(leaf, { x509Svid: Buffer.alloc(0) })]),
    'malformed-certificate',
    /comes without a certificate/,
  ],
  [
    'half a certificate',
    svidResponse([svidFields(leaf, { x509Svid: leaf.der.subarray(0, 100) })]),
    'malformed-certificate',
    /no certificates in DER/,
  ],
  [
    'an element that is no certificate',
    svidResponse([svidFields(leaf, { x509Svid: Buffer.from([0x30, 0]) })]),
    'malformed-certificate',
    /no DER certificate/,
  ],
  [
    'more certificates than a chain has',
    svidResponse([svidFields(leaf, { x509Svid: ders(leaf, ...Array.from({ length: 8 }, () => intermediate)) })]),
    'malformed-certificate',
    /there are 9; at most 8/,
  ],
  ['an authority as the leaf', svidResponse([svidFields(authority)]), 'unfit-certificate', /certificate authority/],
  ['two URIs in the leaf', svidResponse([svidFields(twoNames)]), 'spiffe-id-mismatch', /has 2 URIs/],
  ['no URI in the leaf', svidResponse([svidFields(noName)]), 'spiffe-id-mismatch', /has 0 URIs/],
  [
    'a leaf of somebody else',
    svidResponse([svidFields(stranger)]),
    'spiffe-id-mismatch',
    /and the certificate spiffe:\/\/example\.org\/stranger/,
  ],
  ['no key', svidResponse([svidFields(leaf, { x509SvidKey: Buffer.alloc(0) })]), 'malformed-key', /PKCS#8/],
  ['a key that is none', svidResponse([svidFields(leaf, { x509SvidKey: leaf.der })]), 'malformed-key', /PKCS#8/],
  [
    'the key of another certificate',
    svidResponse([svidFields(leaf, { x509SvidKey: pkcs8(stranger) })]),
    'key-mismatch',
    /not the one/,
  ],
  ['no roots', svidResponse([svidFields(leaf, { bundle: Buffer.alloc(0) })]), 'no-bundle', /it is empty/],
  [
    'roots that cannot be read',
    svidResponse([svidFields(leaf, { bundle: Buffer.from('x') })]),
    'no-bundle',
    /no certificates in DER/,
  ],
  [
    'roots without end',
    svidResponse([svidFields(leaf, { bundle: Buffer.alloc(2 ** 20 + 1) })]),
    'no-bundle',
    /more than 1048576 bytes/,
  ],
];
for (const [what, bytes, reason, says] of refused) {
  test(`${what} is refused: ${reason}`, () => {
    const found = readX509Svid(bytes, 'example.org');
    assert.ok(isSvidRefusal(found));
    assert.equal(found.reason, reason);
    assert.match(found.detail, says);
  });
}

test('another trust domain than the platform has is a reason of its own that says what to set', () => {
  const found = readX509Svid(svidResponse(), 'cluster.local');
  assert.ok(isSvidRefusal(found));
  assert.deepEqual(found, {
    reason: 'trust-domain-mismatch',
    detail: `${id} is of the trust domain example.org, and the platform's is cluster.local: set spiffe.trustDomain to what SPIRE serves`,
  });
});

function isBounded(bytes: Uint8Array): boolean {
  const found = readX509Svid(bytes, 'example.org');
  return !isSvidRefusal(found) || (svidReasons.includes(found.reason) && found.detail.length <= 600);
}

test('random bytes never throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), isBounded));
});

test('a good answer with any bytes changed, cut or doubled never throws', () => {
  const good = svidResponse([svidFields()], { 'spiffe://partner.example': foreignRoot.der });
  const edit = fc.record({
    at: fc.nat(good.length - 1),
    byte: fc.nat(255),
    cut: fc.nat(20),
    times: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      const bytes = edits.reduce<Buffer>((before, { at, byte, cut, times }) => {
        const piece = Buffer.concat(Array.from({ length: times }, () => before.subarray(at, at + cut)));
        const next = Buffer.concat([before.subarray(0, at), piece, before.subarray(at + cut)]);
        if (at < next.length) next[at] = byte;
        return next;
      }, Buffer.from(good));
      return isBounded(bytes);
    }),
    { numRuns: 1000 },
  );
});

test('random fields never throw', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((value) => Buffer.from(value));
  const part = (good: Buffer) => fc.oneof(fc.constant(good), bytes);
  const fields = fc.record({
    spiffeId: fc.oneof(
      fc.constant(id),
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    ),
    x509Svid: part(ders(leaf, intermediate)),
    x509SvidKey: part(pkcs8(leaf)),
    bundle: part(root.der),
  });
  const federated = fc.dictionary(fc.string(), bytes);
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 3 }), federated, (svids, others) =>
      isBounded(svidResponse(svids, others)),
    ),
  );
});

test('no refusal quotes the key', () => {
  const key = pkcs8(leaf);
  for (const [, bytes] of refused) {
    const found = JSON.stringify(readX509Svid(bytes, 'example.org'));
    assert.ok(!found.includes(key.toString('base64').slice(40, 60)));
  }
});
