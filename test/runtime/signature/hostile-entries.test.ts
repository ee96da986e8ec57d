/** SG-11 and SG-12: entries of `signatures` that lie about algorithms and keys, or are no entries at all. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { readCard } from '../../../runtime/signature/document.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import {
  base64Of,
  bodyOf,
  entryFor,
  issue,
  type KeyKind,
  makeFamily,
  makeKeys,
  svidExtensions,
  type Wish,
} from './pki.ts';
import { bytesOf, cardIn, optionsWith, reasonOf, vectorNamed, verdictOn } from './vectors.ts';

const k1: JsonObject = cardIn(bytesOf('parse/a2a-1.0.json'));
const a = makeFamily();
const options = optionsWith({ bundle: parseTrustBundle(a.root.pem) });
const verdict = (card: JsonObject) => verdictOn(bodyOf(card), options);
const reason = (card: JsonObject) => reasonOf(verdict(card));
const withEntries = (...entries: readonly unknown[]): JsonObject => ({ ...k1, signatures: entries as readonly Json[] });
const header = { x5c: base64Of(a.leaf, a.intermediate) };
const good = await entryFor(k1, { keys: a.leaf.keys, header });
const leafOf = (kind: KeyKind, wish: Partial<Wish> = {}) =>
  issue({ subject: 'O=SPIRE', issuer: a.intermediate, keys: makeKeys(kind), extensions: svidExtensions(), ...wish });

test('SG-11: algorithm, curve, critical headers: nothing but what is listed, nothing from the unprotected header', async () => {
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const signature = good.signature;
  const p384 = leafOf('P-384');
  const weak = leafOf('RSA-1024');
  const rows: readonly (readonly [string, object])[] = [
    ['alg-not-allowed', { protected: encoded({ alg: 'none', ...header }), signature: '' }],
    ['alg-not-allowed', { protected: encoded({ alg: 'HS256', ...header }), signature }],
    ['alg-not-allowed', { protected: encoded({ alg: 'PS256', ...header }), signature }],
    ['alg-not-allowed', { protected: encoded({ alg: 'ES256K', ...header }), signature }],
    ['alg-not-allowed', { protected: encoded({ alg: 'EdDSA', ...header }), signature }],
    ['alg-not-allowed', { protected: encoded({ alg: ['ES256'], ...header }), signature }],
    ['alg-not-allowed', { protected: encoded({ alg: 'toString', ...header }), signature }],
    ['alg-not-allowed', { protected: encoded(header), header: { alg: 'ES256' }, signature }],
    ['alg-key-mismatch', { protected: encoded({ alg: 'ES256', x5c: base64Of(p384, a.intermediate) }), signature }],
    ['alg-key-mismatch', { protected: encoded({ alg: 'RS256', ...header }), signature }],
    ['weak-key', { protected: encoded({ alg: 'RS256', x5c: base64Of(weak, a.intermediate) }), signature }],
    ['crit-not-supported', { protected: encoded({ alg: 'ES256', crit: ['x'], ...header }), signature }],
    ['crit-not-supported', { protected: encoded({ alg: 'ES256', crit: ['b64'], b64: false, ...header }), signature }],
    ['crit-not-supported', { protected: encoded({ alg: 'ES256', b64: true, ...header }), signature }],
    ['crit-not-supported', { ...good, header: { crit: ['exp'] } }],
    ['x5c-missing', { protected: encoded({ alg: 'ES256' }), header, signature }],
    ['malformed-signature', { ...good, header }],
    ['malformed-signature', { ...good, header: null }],
    ['ok', { ...good, header: { kid: 'x' } }],
  ];
  for (const [expected, entry] of rows)
    assert.equal(reason(withEntries(entry)), expected, JSON.stringify(entry).slice(0, 200));
});

test('SG-11: jku and jwk are never asked or trusted', async () => {
  let hits = 0;
  const server = createServer((_, response) => {
    hits += 1;
    response.end('{"keys":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}/keys`;
  const stranger = makeKeys();
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  const lures = { jku: url, x5u: url, jwk };
  const honest = await entryFor(k1, { keys: a.leaf.keys, header: { ...header, ...lures } });
  assert.equal(reason(withEntries(honest)), 'ok');
  const forged = await entryFor(k1, { keys: stranger, header: { ...header, ...lures } });
  assert.equal(reason(withEntries(forged)), 'payload-mismatch');
  const bare = await entryFor(k1, { keys: stranger, header: lures });
  assert.equal(reason(withEntries(bare)), 'x5c-missing');
  for (const id of ['ok-jku-is-ignored', 'bad-jku-only']) assert.ok(vectorNamed(id).mustNotFetch);
  await setImmediate();
  assert.equal(hits, 0);
  await new Promise((resolve) => server.close(resolve));
});

test('SG-12: hostile entries never throw and have reasons; their number is bounded', () => {
  const encoded = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64url');
  const megabyte = encoded(JSON.stringify({ alg: 'ES256', x5c: ['A'.repeat(500 * 1024)] }));
  const rows: readonly (readonly [string, unknown])[] = [
    ['malformed-signature', { ...good, protected: encoded('null') }],
    ['malformed-signature', { ...good, protected: encoded('[]') }],
    ['malformed-signature', { ...good, protected: encoded('"x"') }],
    ['malformed-signature', { ...good, protected: encoded('') }],
    ['malformed-signature', { ...good, protected: '' }],
    ['malformed-signature', { ...good, protected: encoded(Buffer.from([0x7b, 0xff, 0x7d])) }],
    ['malformed-signature', { ...good, protected: encoded('\ufeff{}') }],
    ['malformed-signature', { ...good, protected: 5 }],
    ['malformed-signature', { signature: good.signature }],
    ['malformed-signature', { protected: good.protected }],
    ['malformed-signature', 'x'],
    ['malformed-signature', null],
    ['malformed-signature', []],
    ['duplicate-member', { ...good, protected: encoded('{"alg":"ES256","alg":"RS256"}') }],
    ['limit-exceeded', { ...good, protected: encoded('['.repeat(100)) }],
    ['limit-exceeded', { ...good, protected: encoded('{"x":'.repeat(100_000)) }],
    ['x5c-malformed', { ...good, protected: megabyte }],
  ];
  for (const [expected, entry] of rows)
    assert.equal(reason(withEntries(entry)), expected, JSON.stringify(entry)?.slice(0, 100));
  for (const signatures of [{}, 'x', null, 0, []]) {
    assert.equal(reason({ ...k1, signatures: signatures as Json }), 'no-signature');
  }
  assert.equal(reason({ ...k1, signatures: Array.from({ length: 10_000 }, () => ({})) }), 'limit-exceeded');
  assert.equal(
    reason({ ...k1, signatures: Array.from({ length: 9 }, () => good as unknown as Json) }),
    'limit-exceeded',
  );
});

test('SG-12: one valid and bound signature is enough, in any position', async () => {
  const late = leafOf('P-256', { notBefore: '2020-01-01T00:00:00Z', notAfter: '2020-06-01T00:00:00Z' });
  const expired = await entryFor(k1, { keys: late.keys, header: { x5c: base64Of(late, a.intermediate) } });
  const foreign = leafOf('P-256', { extensions: svidExtensions('spiffe://other.test/ns/a/sa/b') });
  const unbound = await entryFor(k1, { keys: foreign.keys, header: { x5c: base64Of(foreign, a.intermediate) } });
  assert.equal(reason(withEntries({ protected: 'garbage' }, expired, good)), 'ok');
  assert.equal(reason(withEntries(good, expired)), 'ok');
  assert.equal(reason(withEntries(unbound, good)), 'ok');
  assert.equal(reason(withEntries(unbound, expired)), 'TrustDomainMismatch');
  assert.equal(reason(withEntries(expired, unbound)), 'TrustDomainMismatch');
  assert.equal(reason(withEntries('x', expired)), 'expired');
  const result = verdict(withEntries('x', expired));
  assert.ok(!result.isValid);
  assert.match(result.detail, /^none of 2 signatures is good; the second: the leaf certificate ended at /);
});

test('SG-12: 1 MiB of anything is answered', () => {
  const deep = Buffer.from('{"a":'.repeat(200_000));
  const twins = Buffer.from(`{${Array.from({ length: 40_000 }, (_, at) => `"member${at}":${at}`).join()},"member1":0}`);
  const wide = Buffer.from(`[${'[],'.repeat(300_000)}[]]`);
  for (const [body, expected] of [
    [deep, 'limit-exceeded'],
    [twins, 'duplicate-member'],
    [wide, 'malformed-json'],
    [Buffer.alloc(1024 * 1024 + 1, 0x20), 'limit-exceeded'],
    [Buffer.alloc(1024 * 1024, 0x20), 'malformed-json'],
  ] as const) {
    const read = readCard(body);
    assert.ok('refused' in read);
    assert.equal(read.reason, expected);
  }
});
