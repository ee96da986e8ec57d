/** What users of systems like this one ran into, as far as verifying a card decides it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionReason, signatureReasons } from '../../../runtime/api/conditions.ts';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { verifyCard } from '../../../runtime/signature/verify.ts';
import {
  base64Of,
  bodyOf,
  caExtensions,
  entryFor,
  type Issued,
  issue,
  makeFamily,
  makeKeys,
  signedBy,
  svidExtensions,
  type KeyKind,
  type Wish,
} from './pki.ts';
import { bytesOf, cardIn, optionsWith, reasonOf, vectorNamed, verdictOf, verdictOn } from './vectors.ts';

const k1: JsonObject = cardIn(bytesOf('parse/a2a-1.0.json'));
const a = makeFamily();
const bundle = parseTrustBundle(a.root.pem);
const options = optionsWith({ bundle });
const verdict = (card: JsonObject, more: Parameters<typeof optionsWith>[0] = {}) =>
  verdictOn(bodyOf(card), { ...options, ...more });
const reason = (card: JsonObject, more: Parameters<typeof optionsWith>[0] = {}) => reasonOf(verdict(card, more));
const withEntries = (...entries: readonly unknown[]): JsonObject => ({ ...k1, signatures: entries as readonly Json[] });
const header = { x5c: base64Of(a.leaf, a.intermediate) };
const good = await entryFor(k1, { keys: a.leaf.keys, header });

/** An SVID of another key below the same intermediate. */
const leafOf = (kind: KeyKind, wish: Partial<Wish> = {}) =>
  issue({ subject: 'O=SPIRE', issuer: a.intermediate, keys: makeKeys(kind), extensions: svidExtensions(), ...wish });

/** r and s as ASN.1 writes them. */
function derOf(raw: Buffer): Buffer {
  const integer = (bytes: Buffer) => {
    const first = bytes.findIndex((byte) => byte !== 0);
    const short = bytes.subarray(Math.max(0, first));
    const body = (short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short;
    return Buffer.concat([Buffer.from([0x02, body.length]), body]);
  };
  const body = Buffer.concat([integer(raw.subarray(0, raw.length / 2)), integer(raw.subarray(raw.length / 2))]);
  return Buffer.concat([Buffer.from(body.length < 0x80 ? [0x30, body.length] : [0x30, 0x81, body.length]), body]);
}

for (const [kind, bytes] of [
  ['P-256', 64],
  ['P-384', 96],
  ['P-521', 132],
] as const) {
  test(`SG-01: ${kind} signatures are r and s in ${bytes} bytes; the same one in DER is refused`, async () => {
    const leaf = leafOf(kind);
    const entry = await entryFor(k1, { keys: leaf.keys, header: { x5c: base64Of(leaf, a.intermediate) } });
    const raw = Buffer.from(entry.signature, 'base64url');
    assert.equal(raw.length, bytes);
    assert.equal(reason(withEntries(entry)), 'ok');
    const der = { ...entry, signature: derOf(raw).toString('base64url') };
    assert.equal(reason(withEntries(der)), 'signature-invalid');
  });
}

test('SG-02: any Unicode, any number and a nested member signatures are covered as RFC 8785 writes them', async () => {
  const params = { a: 0.000001, b: 1e-7, c: 1e21, d: 1.0, e: -0, f: 100000000000000000000, signatures: ['kept'] };
  const card: JsonObject = {
    name: 'Caf\u00e9',
    provider: { organization: 'Cafe\u0301' },
    description: '<a href="x">&\u2028',
    securitySchemes: { '\u{1f600}': { x: 1 }, '\uff01': { x: 2 } },
    capabilities: { extensions: [{ uri: 'u', params }] },
  };
  const text =
    '{"capabilities":{"extensions":[{"params":{"a":0.000001,"b":1e-7,"c":1e+21,"d":1,"e":0,"f":100000000000000000000,"signatures":["kept"]},"uri":"u"}]},' +
    '"description":"<a href=\\"x\\">&\u2028","name":"Caf\u00e9","provider":{"organization":"Cafe\u0301"},"securitySchemes":{"\u{1f600}":{"x":1},"\uff01":{"x":2}}}';
  const entry = await entryFor(card, { keys: a.leaf.keys, header, payload: text });
  const signed: JsonObject = { ...card, signatures: [entry as unknown as Json] };
  const result = verdict(signed);
  assert.ok(result.isValid && result.isBound);
  assert.equal(result.profile, 'jcs');
  const changes: readonly JsonObject[] = [{ name: 'Cafe\u0301' }, { provider: { organization: 'Caf\u00e9' } }];
  for (const changed of changes) {
    assert.equal(reason({ ...signed, ...changed }), 'payload-mismatch');
  }
  const without = { ...card, capabilities: { extensions: [{ uri: 'u', params: { ...params, signatures: [] } }] } };
  assert.equal(reason({ ...without, signatures: signed['signatures'] ?? [] }), 'payload-mismatch');
});

const extended = (extension: JsonObject): JsonObject => ({
  ...k1,
  capabilities: { extensions: [{ uri: 'https://example.com/ext', ...extension }] },
});

test('SG-03: a default-valued member may be signed or left out of what is signed; what is kept is what was signed', async () => {
  const present = extended({ required: false });
  const absent = extended({});
  const over = async (served: JsonObject, signed: JsonObject) => {
    const entry = await entryFor(signed, { keys: a.leaf.keys, header });
    return { ...served, signatures: [entry as unknown as Json] };
  };
  const asServed = verdict(await over(present, present));
  assert.ok(asServed.isValid && asServed.profile === 'jcs');
  assert.deepEqual(asServed.unsigned, []);
  assert.deepEqual(asServed.card['capabilities'], present['capabilities']);
  const stripped = verdict(await over(present, absent));
  assert.ok(stripped.isValid && stripped.profile === 'jcs-spec');
  assert.deepEqual(stripped.unsigned, ['/capabilities/extensions/0/required']);
  assert.deepEqual(stripped.card['capabilities'], absent['capabilities']);
  assert.equal(reason(await over(present, absent), { profiles: 'jcs' }), 'payload-mismatch');
  // Nobody may add it afterwards: a signature over the member says that it was there.
  assert.equal(reason(await over(absent, present)), 'payload-mismatch');
});

test('SG-03: members that no schema knows are covered: any byte of the card changed, and it is not verified', async () => {
  const card: JsonObject = {
    name: 'A',
    securitySchemes: { m: { mtlsSecurityScheme: {} } },
    capabilities: { extensions: [{ uri: 'u', required: false, vendor: { x: [1, null] } }] },
  };
  const signed = await signedBy(card, a.leaf, a.intermediate);
  const { signatures, ...content } = signed;
  const text = JSON.stringify(content);
  const tail = `,"signatures":${JSON.stringify(signatures)}}`;
  const served = (bytes: Uint8Array) => Buffer.concat([bytes.subarray(0, -1), Buffer.from(tail)]);
  assert.equal(reasonOf(verdictOn(served(Buffer.from(text)), options)), 'ok');
  for (let at = 0; at < text.length - 1; at++) {
    const bytes = Buffer.from(text);
    bytes[at] = (bytes[at] ?? 0) ^ 0x01;
    assert.equal(verdictOn(served(bytes), options).isValid, false, `byte ${at}: ${bytes.toString()}`);
  }
});

test('SG-05: dates, authorities, anchors and depth are checked, each with its own reason', async () => {
  const expired = { notBefore: '2020-01-01T00:00:00Z', notAfter: '2020-06-01T00:00:00Z' };
  const oldIntermediate = issue({
    subject: 'O=SPIRE, CN=old',
    issuer: a.root,
    extensions: caExtensions(),
    ...expired,
  });
  const underOld = issue({ subject: 'O=SPIRE', issuer: oldIntermediate, extensions: svidExtensions() });
  const ofLeaf = issue({ subject: 'O=SPIRE', issuer: a.leaf, extensions: svidExtensions() });
  const rogue = makeFamily();
  const twelve: Issued[] = [a.root];
  for (let at = 0; at < 11; at++) {
    twelve.unshift(issue({ subject: `CN=${at}`, issuer: twelve[0] ?? a.root, extensions: caExtensions() }));
  }
  twelve.unshift(issue({ subject: 'O=SPIRE', issuer: twelve[0] ?? a.root, extensions: svidExtensions() }));
  const cases: readonly (readonly [string, readonly Issued[]])[] = [
    ['expired', [leafOf('P-256', expired), a.intermediate]],
    ['expired', [underOld, oldIntermediate]],
    ['not-yet-valid', [leafOf('P-256', { notBefore: '2027-01-01T00:00:00Z' }), a.intermediate]],
    ['intermediate-not-ca', [ofLeaf, a.leaf, a.intermediate]],
    ['untrusted-chain', [rogue.leaf, rogue.intermediate, rogue.root]],
    ['limit-exceeded', twelve],
  ];
  for (const [expected, [leaf, ...others]] of cases) {
    assert.ok(leaf !== undefined);
    assert.equal(reason(await signedBy(k1, leaf, ...others)), expected);
  }
});

test('SG-10: while roots rotate both count; with the old one removed its cards are no longer verified', async () => {
  const next = makeFamily();
  const before = await signedBy(k1, a.leaf, a.intermediate);
  const after = await signedBy(k1, next.leaf, next.intermediate);
  const verdicts = (...roots: readonly Issued[]) => {
    const rotated = parseTrustBundle(roots.map(({ pem }) => pem).join(''));
    return [before, after].map((card) => reason(card, { bundle: rotated }));
  };
  assert.deepEqual(verdicts(a.root), ['ok', 'untrusted-chain']);
  assert.deepEqual(verdicts(a.root, next.root), ['ok', 'ok']);
  assert.deepEqual(verdicts(next.root), ['untrusted-chain', 'ok']);
});

test('SG-10: 200 roots, expired ones and a garbage block among them: the good one is found, the broken one told', async () => {
  const keys = makeKeys();
  const many = Array.from({ length: 200 }, (_, at) =>
    issue({
      subject: at % 2 === 0 ? a.root.subject : `CN=root ${at}`,
      keys,
      notAfter: at % 3 === 0 ? '2026-02-01T00:00:00Z' : '2036-01-01T00:00:00Z',
      extensions: caExtensions(),
    }),
  );
  const garbage = '-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n';
  const cut = '-----BEGIN CERTIFICATE-----\nTm8gZW5k\n';
  const pems = many.map(({ pem }) => pem);
  const text = [...pems.slice(0, 100), garbage, cut, ...pems.slice(100), a.root.pem].join('');
  const large = parseTrustBundle(text);
  assert.equal(large.anchors.length, 201);
  assert.deepEqual(large.warnings, [
    'PEM block 101 is left out: it is no DER certificate: it ends too early',
    'PEM block 102 is left out: it has no end',
  ]);
  assert.equal(reason(await signedBy(k1, a.leaf, a.intermediate), { bundle: large }), 'ok');
});

/** Vectors that stand for the kinds of failure which people must be able to tell apart. */
const kinds: readonly string[] = [
  'bad-unsigned',
  'bad-duplicate-key-top',
  'bad-nan-literal',
  'bad-signature-padded',
  'bad-alg-none',
  'bad-alg-es256-with-p384',
  'bad-crit-unknown',
  'bad-x5c-missing',
  'bad-x5c-pem',
  'bad-bundle-empty',
  'bad-unknown-ca-same-dn',
  'bad-int-expired',
  'bad-leaf-not-yet-valid',
  'bad-leaf-issued-by-leaf',
  'bad-leaf-caflag',
  'bad-leaf-2uri',
  'bad-tampered-url',
  'bad-signature-der',
];

test('OB-02: each kind of failure has a reason of its own, from the bounded list, in both spellings', () => {
  const reasons = kinds.map((id) => {
    const result = verdictOf(vectorNamed(id));
    assert.ok(!result.isValid, id);
    return result.reason;
  });
  assert.ok(kinds.length >= 13);
  assert.equal(new Set(reasons).size, kinds.length);
  for (const each of reasons) assert.ok(signatureReasons.includes(each));
  assert.equal(new Set(signatureReasons.map(conditionReason)).size, signatureReasons.length);
});

test('a card that was not read by us is judged all the same', () => {
  const result = verifyCard({ name: '\ud800', signatures: [good as unknown as Json] }, options);
  assert.equal(reasonOf(result), 'malformed-json');
});
