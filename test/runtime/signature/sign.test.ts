/** Signing: what is signed is verified, and what no verifier would accept is refused with what to do. */

import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { signCard, SignError, type SignOptions } from '../../../runtime/signature/sign.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import {
  type Entry,
  type Issued,
  type KeyKind,
  bodyOf,
  caExtensions,
  issue,
  keyPem,
  makeFamily,
  makeKeys,
  svidExtensions,
} from './pki.ts';
import { bytesOf, cardIn, optionsWith, verdictOn } from './vectors.ts';

const family = makeFamily();
const { root, intermediate, leaf } = family;
const options = optionsWith({ bundle: parseTrustBundle(root.pem) });
const chainOf = (...certificates: readonly Issued[]) => certificates.map(({ pem }) => pem).join('');
const own: SignOptions = { key: keyPem(leaf), chain: chainOf(leaf, intermediate) };
const body = bytesOf('parse/a2a-1.0.json');
const entriesOf = (card: JsonObject) => card['signatures'] as readonly (Entry & JsonObject)[];

for (const [kind, algorithm] of [
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['RSA-2048', 'RS256'],
] as readonly (readonly [KeyKind, string])[]) {
  test(`${kind} signs with ${algorithm}, and the card is verified`, () => {
    const svid = issue({
      subject: 'O=SPIRE',
      issuer: intermediate,
      keys: makeKeys(kind),
      extensions: svidExtensions(),
    });
    const { card, warnings } = signCard(body, { key: keyPem(svid), chain: chainOf(svid, intermediate) });
    const result = verdictOn(bodyOf(card), options);
    assert.ok(result.isValid && result.isBound, JSON.stringify(result));
    assert.equal(result.algorithm, algorithm);
    assert.equal(result.profile, 'jcs');
    assert.equal(result.keyId, createHash('sha256').update(svid.der).digest('hex').slice(0, 16));
    assert.deepEqual(warnings, []);
  });
}

test('the header is alg, kid, typ and x5c, leaf first', () => {
  const { card } = signCard(body, own);
  const [entry] = entriesOf(card);
  const header = JSON.parse(Buffer.from(entry?.protected ?? '', 'base64url').toString()) as object;
  assert.deepEqual(Object.keys(header), ['alg', 'kid', 'typ', 'x5c']);
  assert.deepEqual(header, {
    alg: 'ES256',
    kid: createHash('sha256').update(leaf.der).digest('hex').slice(0, 16),
    typ: 'JOSE',
    x5c: [leaf, intermediate].map(({ der }) => der.toString('base64')),
  });
  assert.deepEqual(Object.keys(entry ?? {}), ['protected', 'signature']);
});

test('keys in PKCS #1 and SEC 1 are read as well', () => {
  const { privateKey } = leaf.keys;
  const sec1 = privateKey.export({ type: 'sec1', format: 'pem' });
  assert.equal(entriesOf(signCard(body, { ...own, key: sec1 }).card).length, 1);
});

test('signatures are kept or replaced', () => {
  const once = bodyOf(signCard(body, own).card);
  assert.equal(entriesOf(signCard(once, own).card).length, 2);
  assert.equal(entriesOf(signCard(once, { ...own, replace: true }).card).length, 1);
  assert.ok(verdictOn(bodyOf(signCard(once, own).card), options).isValid);
  const full = bodyOf({ ...cardIn(body), signatures: Array.from({ length: 8 }, (): Json => ({})) });
  assert.throws(() => signCard(full, own), /has 8 signatures, and verifiers look at 8; replace them/);
  assert.equal(entriesOf(signCard(full, { ...own, replace: true }).card).length, 1);
  assert.throws(() => signCard(Buffer.from('{"signatures":{}}'), own), /no list/);
  assert.equal(entriesOf(signCard(Buffer.from('{"signatures":null}'), own).card).length, 1);
});

test('it is said when the Go operator cannot verify the card', () => {
  for (const card of ['{"name":"a&b"}', '{"name":"a","skills":[]}', '{"n":-0}']) {
    assert.match(signCard(Buffer.from(card), own).warnings[0] ?? '', /the Go operator cannot verify this card/);
  }
});

test('it is said when a number is not the one that was written', () => {
  const { card, warnings } = signCard(
    Buffer.from(
      '{"a":[9007199254740993,-12345678901234567890],"b":"9007199254740993","c":1.12345678901234567890,"d":9007199254740992}',
    ),
    own,
  );
  assert.deepEqual(card['a'], [9007199254740992, -12345678901234567000]);
  assert.deepEqual(
    warnings.map((warning) =>
      /^the number (\S+) is more than JSON numbers hold: (\S+) is signed/.exec(warning)?.slice(1),
    ),
    [
      ['9007199254740993', '9007199254740992'],
      ['-12345678901234567890', '-12345678901234567000'],
    ],
  );
  const many = Buffer.from(`{"a":[${Array.from({ length: 100 }, () => '9007199254740993').join()}]}`);
  assert.equal(signCard(many, own).warnings.length, 8);
});

const wish = { subject: 'O=SPIRE', issuer: intermediate };
const rsa1024 = issue({ ...wish, keys: makeKeys('RSA-1024'), extensions: svidExtensions() });
const authority = issue({ ...wish, extensions: caExtensions() });
const noId = issue({ ...wish, extensions: svidExtensions('https://example.org/a') });
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const encrypted = leaf.keys.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' });

const refused: readonly (readonly [
  because: string,
  card: string | undefined,
  more: Partial<SignOptions>,
  message: RegExp,
])[] = [
  ['a member twice', '{"a":1,"a":2}', {}, /the card cannot be signed: the member "a" occurs twice/],
  ['a lone surrogate', '{"a":"\\ud800"}', {}, /lone surrogate/],
  ['a number beyond a double', '{"a":1e999}', {}, /out of range/],
  ['NaN', '{"a":NaN}', {}, /unexpected/],
  ['no object', '[]', {}, /no object/],
  ['an envelope', '{"agentCard":{"name":"a"},"attestations":[]}', {}, /in an envelope .* sign what is in agentCard/],
  ['a key of another certificate', undefined, { key: keyPem(root) }, /not that of the first certificate/],
  ['a key of another kind', undefined, { key: ed25519 }, /not that of the first certificate/],
  ['no key', undefined, { key: 'hello' }, /the key cannot be read: a private key in PEM is needed/],
  ['a public key', undefined, { key: leaf.keys.publicKey.export({ type: 'spki', format: 'pem' }) }, /cannot be read/],
  ['an encrypted key', undefined, { key: encrypted }, /is encrypted; decrypt it first/],
  ['a small RSA key', undefined, { key: keyPem(rsa1024), chain: chainOf(rsa1024, intermediate) }, /has 1024 bits/],
  [
    'an authority',
    undefined,
    { key: keyPem(authority), chain: chainOf(authority, intermediate) },
    /may not sign cards/,
  ],
  ['no SPIFFE ID', undefined, { key: keyPem(noId), chain: chainOf(noId, intermediate) }, /no SPIFFE ID/],
  ['no chain', undefined, { chain: '' }, /holds no PEM block CERTIFICATE/],
  ['a broken chain', undefined, { chain: `${leaf.pem}-----BEGIN CERTIFICATE-----\n` }, /PEM block 2 is left out/],
  [
    'a chain out of order',
    undefined,
    { chain: chainOf(leaf, root, intermediate) },
    /did not issue the leaf certificate/,
  ],
  [
    'a chain with a stranger',
    undefined,
    { chain: chainOf(leaf, leaf) },
    /certificate 2 of x5c is no certificate authority/,
  ],
  ['a long chain', undefined, { chain: chainOf(...Array.from({ length: 9 }, () => leaf)) }, /has 9 certificates/],
];

for (const [because, card, more, message] of refused) {
  test(`refuses ${because}`, () => {
    const given = { ...own, ...more };
    assert.throws(
      () => signCard(card === undefined ? body : Buffer.from(card), given),
      (error: unknown) => {
        assert.ok(error instanceof SignError);
        assert.match(error.message, message);
        // No line of a key may end in a message.
        const lines = given.key.split('\n').filter((line) => line.length > 20 && !line.startsWith('--'));
        for (const line of lines) assert.ok(!error.message.includes(line));
        return true;
      },
    );
  });
}
