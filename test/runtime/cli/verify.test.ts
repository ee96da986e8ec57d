/** `rossoctl verify`: the table, the JSON, the exit codes, and every kind of file. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli, program } from './run-cli.ts';

const vectors = path.resolve(import.meta.dirname, '../../vectors');
const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-verify-'));
after(() => rmSync(directory, { recursive: true }));

const card = (id: string) => path.join(vectors, 'cards', `${id}.json`);
const bundle = (file: string) => path.join(vectors, 'bundles', file);
const file = (name: string, text: string | Uint8Array) => {
  const at = path.join(directory, name);
  writeFileSync(at, text);
  return at;
};
const usual = ['--bundle', bundle('root-ec.crt'), '--trust-domain', 'example.org', '--now', '2026-12-15T12:00:00Z'];
const verify = (id: string, ...flags: readonly string[]) => cli(['verify', card(id), ...usual, ...flags]);

test('a good card: seven steps that passed, the binding, until when', async () => {
  const { code, out, err } = await verify('ok-es256-2-intermediates');
  assert.equal(code, 0, err);
  assert.equal(err, '');
  assert.deepEqual(
    out.split('\n').map((line) => line.slice(0, 28).trimEnd()),
    [
      '  1  protected header   pass',
      '  2  certificate chain  pass',
      '  3  SPIFFE ID          pass',
      '  4  key and algorithm  pass',
      '  5  canonical payload  pass',
      '  6  signing input      pass',
      '  7  signature          pass',
      '     identity binding   pass',
      'verified until 2036-01-01T00',
      '',
    ],
  );
  assert.match(out, /ES256, 3 in x5c, kid 9df06f9544b7b5a9/);
  assert.match(out, /the prime256v1 key of the leaf fits ES256/);
});

test('a bad card: the step that failed and why, those after it not taken', async () => {
  const { code, out } = await verify('bad-int-expired');
  assert.equal(code, 1);
  assert.match(
    out,
    /^ {2}2 {2}certificate chain {2}FAIL {2}expired: certificate 2 of x5c ended at 2026-11-01T00:00:00Z$/m,
  );
  assert.match(out, /^ {2}3 {2}SPIFFE ID {10}-$/m);
  assert.match(out, /^not verified \(expired\): certificate 2 of x5c ended/m);
});

test('several signatures are shown one by one; members that are not covered are named', async () => {
  const several = await verify('ok-multi-first-payload-mismatch');
  assert.equal(several.code, 0);
  assert.match(several.out, /^signature 1\n[\s\S]*FAIL {2}payload-mismatch[\s\S]*^signature 2\n[\s\S]*verified until/m);
  const partly = await verify('ok-interop-injected-empties');
  assert.equal(partly.code, 0);
  assert.match(partly.out, /^not covered by the signature: .*\/securitySchemes/m);
});

test('as JSON: one object for programs', async () => {
  const good = await verify('ok-es256-direct', '--json');
  assert.equal(good.code, 0);
  assert.deepEqual(JSON.parse(good.out), {
    verified: true,
    bound: true,
    signatureValid: true,
    spiffeId: 'spiffe://example.org/ns/team1/sa/weather-agent',
    keyId: 'ee07f01c9802d117',
    algorithm: 'ES256',
    profile: 'jcs',
    expires: '2036-01-01T00:00:00Z',
    reason: 'ok',
    detail: 'the card is signed by spiffe://example.org/ns/team1/sa/weather-agent',
    unsigned: [],
  });
  const bad = await verify('bad-x5c-missing', '--json');
  assert.equal(bad.code, 1);
  const verdict = JSON.parse(bad.out) as Record<string, unknown>;
  assert.equal(verdict['reason'], 'x5c-missing');
  assert.equal(verdict['verified'], false);
  assert.equal(verdict['spiffeId'], null);
  const foreign = await verify('bad-leaf-td-other', '--json');
  assert.equal(foreign.code, 1);
  const { verified, bound, signatureValid, reason } = JSON.parse(foreign.out) as Record<string, unknown>;
  assert.deepEqual(
    { verified, bound, signatureValid, reason },
    {
      verified: false,
      bound: false,
      signatureValid: true,
      reason: 'trust-domain-mismatch',
    },
  );
});

test('scope workload: the very ServiceAccount must have signed', async () => {
  const scope = ['--scope', 'workload', '-n', 'team1', '--service-account'];
  assert.equal((await verify('ok-es256-direct', ...scope, 'weather-agent')).code, 0);
  const other = await verify('ok-es256-direct', ...scope, 'other');
  assert.equal(other.code, 1);
  assert.match(other.out, /identity binding {3}FAIL .* the workload is spiffe:\/\/example\.org\/ns\/team1\/sa\/other/);
});

test('profiles jcs: what was signed in another form is refused', async () => {
  assert.equal((await verify('ok-interop-go-skeleton')).code, 0);
  assert.equal((await verify('ok-interop-go-skeleton', '--profiles', 'jcs')).code, 1);
});

test('the bundle may be PEM, a SPIFFE document, or a ConfigMap in YAML or JSON', async () => {
  const withBundle = (at: string, ...flags: readonly string[]) =>
    cli(['verify', card('ok-es256-direct'), '--bundle', at, ...usual.slice(2), ...flags]);
  const pem = readFileSync(bundle('root-ec.crt'), 'utf8');
  const map = (data: object) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data });
  for (const at of [
    bundle('root-ec.crt'),
    bundle('root-ec.spiffe.json'),
    bundle('configmap-spire-bundle.yaml'),
    file('map.json', map({ 'bundle.crt': pem })),
    file('data-first.json', JSON.stringify({ data: { 'bundle.crt': pem }, kind: 'ConfigMap', apiVersion: 'v1' })),
    file('told.pem', `kind: CA of the trial\n${pem}`),
    file('list.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [JSON.parse(map({ x: pem }))] })),
  ]) {
    const { code, err } = await withBundle(at);
    assert.equal(code, 0, `${at}: ${err}`);
  }
  const several = file('several.json', map({ a: '', b: pem }));
  assert.equal((await withBundle(several, '--bundle-key', 'b')).code, 0);
  const unclear = await withBundle(several);
  assert.equal(unclear.code, 2);
  assert.match(
    unclear.err,
    /several\.json.*none of its keys is known to hold a trust bundle; it has a, b; name the key with --bundle-key/,
  );
  const binary = file(
    'binary.json',
    JSON.stringify({ ...(JSON.parse(map({})) as object), binaryData: { 'bundle.crt': 'eA==' } }),
  );
  assert.match((await withBundle(binary)).err, /it has bundle\.crt as binaryData; a bundle must be text under data$/m);
});

test('a bundle with nothing in it is an answer, and what is left out is said', async () => {
  const withBundle = (at: string) => cli(['verify', card('ok-es256-direct'), '--bundle', at, ...usual.slice(2)]);
  const empty = await withBundle(bundle('empty.crt'));
  assert.equal(empty.code, 1);
  assert.match(empty.out, /no-trust-anchors: the trust bundle holds no certificate: it is empty/);
  const partly = await withBundle(bundle('one-broken-block.crt'));
  assert.match(partly.err, /^trust bundle: PEM block \d is left out: /m);
});

test('a card that is none is refused like any other, bytes as they are', async () => {
  for (const [id, reason] of [
    ['bad-invalid-utf8', 'malformed-json'],
    ['bad-duplicate-key-top', 'duplicate-member'],
    ['bad-empty-document', 'malformed-json'],
  ] as const) {
    const { code, out } = await verify(id);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^not verified \\(${reason}\\): `));
  }
});

test('wrong usage and files that cannot be read: exit code 2 and what to do', async () => {
  const good = card('ok-es256-direct');
  const rows: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
    [[], /name the file with the card, or - for standard input/],
    [[good], /name the file with the trust bundle with --bundle/],
    [[good, '--bundle', bundle('root-ec.crt')], /name the trust domain .* with --trust-domain/],
    [[good, 'second', ...usual], /one card at a time/],
    [['/none/card.json', ...usual], /\/none\/card\.json cannot be read: there is no such file/],
    [[good, '--bundle', '/none/b', ...usual.slice(2)], /\/none\/b cannot be read/],
    [['-', '--bundle', '-', ...usual.slice(2)], /standard input can be read once only/],
    [[good, ...usual.slice(0, 2), '--trust-domain', 'spiffe://x'], /is no trust domain: .* without spiffe:\/\//],
    [[good, ...usual.slice(0, 4), '--now', 'yesterday'], /--now: "yesterday" is no time; write 2026-12-15T12:00:00Z/],
    [[good, ...usual.slice(0, 4), '--now', '2026-13-15T12:00:00Z'], /is no time/],
    [[good, ...usual.slice(0, 4), '--now', '2026-02-30T12:00:00Z'], /is no time/],
    [[good, ...usual.slice(0, 4), '--now', '2026-02-28T24:00:00Z'], /is no time/],
    [[good, ...usual, '--scope', 'workload', '-n', 'Te am', '--service-account', 'x'], /no name of a namespace/],
    [[good, ...usual, '--scope', 'all'], /--scope: "all" is none of trustDomain, workload/],
    [[good, ...usual, '--scope', 'workload'], /name the namespace of the workload with --namespace/],
    [[good, ...usual, '-n', 'team1'], /--namespace says nothing without --scope workload/],
    [[good, ...usual, '--profiles', 'none'], /--profiles: "none" is none of all, jcs/],
    [[good, '--bundle', '--trust-domain', 'example.org'], /--bundle needs a value: --bundle FILE/],
    [[''], /name the file with the card/],
    [
      [good, ...usual, '--scope', 'workload', '-n', 'team1', '--service-account', 'a/../b'],
      /--service-account: "a\/\.\.\/b" is no name of a ServiceAccount: lower-case letters, digits, dashes and dots/,
    ],
    ...['..', '-', 'a-', 'Example.org'].map((domain): readonly [readonly string[], RegExp] => [
      [good, '--bundle', usual[1] ?? '', '--trust-domain', domain],
      /is no trust domain: lower-case letters/,
    ]),
    [[good, ...usual, '--bundle-key', 'x'], /--bundle-key is for a ConfigMap/],
    [[good, ...usual, '--trustdomain', 'x'], /unknown flag --trustdomain; did you mean --trust-domain\?/],
  ];
  for (const [argv, message] of rows) {
    const { code, out, err } = await cli(['verify', ...argv]);
    assert.equal(code, 2, argv.join(' '));
    assert.equal(out, '');
    assert.match(err, message);
  }
});

test('as a program, from standard input, and its help', async () => {
  const { code, out, err } = await program(['verify', '-', ...usual], readFileSync(card('ok-es256-direct'), 'utf8'));
  assert.equal(code, 0, err);
  assert.match(out, /verified until/);
  const help = await cli(['verify', '--help']);
  assert.equal(help.code, 0);
  for (const word of [
    '--bundle',
    '--trust-domain',
    '--now',
    '--scope',
    '--profiles',
    '--json',
    'Exit code: 0 verified and bound',
  ]) {
    assert.ok(help.out.includes(word), word);
  }
});
