/** `rossoctl sign`: a card that `rossoctl verify` accepts, refusals with the next step, and no key in any output. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli } from './run-cli.ts';

const vectors = path.resolve(import.meta.dirname, '../../vectors');
const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-sign-'));
after(() => rmSync(directory, { recursive: true }));

const inVectors = (file: string) => path.join(vectors, file);
const key = inVectors('keys/leaf-p256.pem');
const chain = path.join(directory, 'svid.pem');
writeFileSync(
  chain,
  ['leaf-p256-ia', 'int-a'].map((name) => readFileSync(inVectors(`certs/${name}.pem`), 'utf8')).join(''),
);
const card = inVectors('parse/a2a-1.0.json');
const output = path.join(directory, 'signed.json');
const verified = (file: string, input = '') =>
  cli(
    [
      'verify',
      file,
      '--bundle',
      inVectors('bundles/root-ec.crt'),
      '--trust-domain',
      'example.org',
      '--now',
      '2026-12-15T12:00:00Z',
      '--json',
    ],
    input,
  );

test('what is signed is verified, from a file and from standard output', async () => {
  const toFile = await cli(['sign', card, '--key', key, '--chain', chain, '--output', output]);
  assert.deepEqual(toFile, { code: 0, out: '', err: '' });
  assert.equal(statSync(output).mode & 0o777, 0o644);
  assert.equal((await verified(output)).code, 0);
  const toOut = await cli(['sign', '-', '--key', key, '--chain', chain], readFileSync(card, 'utf8'));
  assert.equal(toOut.code, 0);
  const { code, out } = await verified('-', toOut.out);
  assert.equal(code, 0);
  assert.equal((JSON.parse(out) as Record<string, unknown>)['profile'], 'jcs');
});

test('a new signature replaces the old ones, or is added', async () => {
  const count = async (...flags: readonly string[]) => {
    const { out } = await cli(['sign', output, '--key', key, '--chain', chain, ...flags]);
    return (JSON.parse(out) as { readonly signatures: readonly unknown[] }).signatures.length;
  };
  assert.equal(await count(), 1);
  assert.equal(await count('--add'), 2);
});

test('what will surprise somebody is a warning', async () => {
  const { code, err } = await cli(['sign', '-', '--key', key, '--chain', chain], '{"name":"R&D"}');
  assert.equal(code, 0);
  assert.match(err, /^warning: the Go operator cannot verify this card/);
});

test('refusals: exit code 1, the file and what to do; nothing is written', async () => {
  const secret = readFileSync(key, 'utf8').split('\n')[1] ?? '';
  assert.ok(secret.length > 40);
  const never = path.join(directory, 'never.json');
  const rows: readonly (readonly [argv: readonly string[], input: string, message: RegExp])[] = [
    [
      ['-', '--key', key, '--chain', chain],
      '{"a":1,"a":2}',
      /^rossoctl: -: the card cannot be signed: the member "a" occurs twice/,
    ],
    [
      [card, '--key', inVectors('keys/leaf-p384.pem'), '--chain', chain],
      '',
      /leaf-p384.pem: the key is not that of the first certificate/,
    ],
    [
      [card, '--key', inVectors('keys/int-a.pem'), '--chain', inVectors('certs/int-a.pem')],
      '',
      /certs\/int-a.pem: .*may not sign cards/,
    ],
  ];
  for (const [argv, input, message] of rows) {
    const { code, out, err } = await cli(['sign', ...argv, '--output', never], input);
    assert.equal(code, 1, argv.join(' '));
    assert.equal(out, '');
    assert.match(err, message);
    assert.ok(!err.includes(secret));
    assert.equal(existsSync(never), false);
  }
});

test('the key and the chain are never written over, by whatever name', async () => {
  const copy = path.join(directory, 'key-copy.pem');
  writeFileSync(copy, readFileSync(key));
  const link = path.join(directory, 'link.pem');
  symlinkSync(copy, link);
  for (const [file, out, flag] of [
    [copy, copy, 'key'],
    [copy, link, 'key'],
    [key, chain, 'chain'],
  ] as const) {
    const { code, err } = await cli(['sign', card, '--key', file, '--chain', chain, '-o', out]);
    assert.equal(code, 2);
    assert.match(err, new RegExp(`--output: .* is the file of --${flag}, which would be lost; name another`));
  }
  assert.deepEqual(readFileSync(copy), readFileSync(key));
  const own = path.join(directory, 'in-place.json');
  writeFileSync(own, readFileSync(card));
  assert.equal((await cli(['sign', own, '--key', key, '--chain', chain, '-o', own])).code, 0);
  assert.equal((await verified(own)).code, 0);
});

test('what is written is what verifiers read: compact where the indented form is too large, nothing where both are', async () => {
  const signed = (pairs: number) =>
    cli(
      ['sign', '-', '--key', key, '--chain', chain],
      JSON.stringify({ a: Array.from({ length: pairs }, () => [1, 2]) }),
    );
  const compact = await signed(150_000);
  assert.equal(compact.code, 0);
  assert.match(compact.err, /larger than 262144 bytes: the operator verifies it, but does not store it/);
  assert.equal((await verified('-', compact.out)).code, 0);
  const large = await signed(174_500);
  assert.deepEqual([large.code, large.out], [1, '']);
  assert.match(large.err, /the signed card is larger than 1048576 bytes, and no verifier reads it/);
});

test('wrong usage and files: exit code 2', async (t) => {
  const usual = [card, '--key', key, '--chain', chain, '--output'];
  const socket = path.join(directory, 'socket');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => server.close());
  const rows: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
    [[], /name the file with the card/],
    [[card], /name the file with the private key with --key/],
    [[card, '--key', key], /name the file with the certificates with --chain/],
    [['-', '--key', '-', '--chain', chain], /standard input can be read once only/],
    [[card, '--key', '/none', '--chain', chain], /\/none cannot be read/],
    [[card, '--key', chain, '--chain', chain], /^rossoctl: .*svid.pem: the key cannot be read/m],
    [[card, '--key', key, '--chain', key], /^rossoctl: .*leaf-p256.pem: the chain holds no PEM block CERTIFICATE/m],
    [[...usual, '/none/x'], /\/none\/x cannot be written: its directory does not exist; make it first$/m],
    [[...usual, directory], /cannot be written: it is a directory; name a file in it$/m],
    [[...usual, `${card}/x`], /cannot be written: a part of its path is a file, not a directory$/m],
    [[...usual, socket], /cannot be written: nothing is behind this device or socket; name a file/],
    [[socket, '--key', key, '--chain', chain], /cannot be read: nothing is behind this device or socket; name a file/],
    [[`${card}/x`, '--key', key, '--chain', chain], /cannot be read: a part of its path is a file/],
  ];
  for (const [argv, message] of rows) {
    const { code, err } = await cli(['sign', ...argv]);
    assert.equal(code, 2, argv.join(' '));
    assert.match(err, message);
  }
  const help = await cli(['sign', '--help']);
  for (const word of ['--key', '--chain', '--output', '--add', 'Exit code: 0 signed'])
    assert.ok(help.out.includes(word));
});
