/** The program `rossoctl` as a user starts it: flags, exit codes, files, other directories. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli, podYaml, program, r0Yaml, stream, version } from '../runtime/cli/run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-cli-'));
after(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const full = path.join(directory, name);
  writeFileSync(full, content);
  return full;
}

test('from another directory, by the machine’s own node: result, exit code, and nothing but ours on standard error', async () => {
  const { code, out, err } = await program(
    ['inject', '-f', '-', '--format', 'json'],
    stream(r0Yaml, podYaml),
    directory,
  );
  assert.equal(code, 0, err);
  assert.equal((JSON.parse(out) as { kind: string }).kind, 'Pod');
  assert.match(err, /^Pod team1\/[^\n]*\n$/);
});

test('the exit code of the inner process is the program’s', async () => {
  const host = podYaml.replace('spec:\n', 'spec:\n  hostNetwork: true\n');
  const [denied, wrong] = await Promise.all([
    program(['inject', '-f', '-'], stream(r0Yaml, host)),
    program(['inject', '--explian']),
  ]);
  assert.deepEqual([denied.code, wrong.code], [1, 2]);
  assert.match(wrong.err, /did you mean --explain/);
});

test('several files, with -f each or after one -f', async () => {
  const [pod, runtime] = [file('pod.yaml', podYaml), file('runtime.yaml', r0Yaml)];
  for (const argv of [
    ['-f', pod, '-f', runtime],
    ['-f', pod, runtime],
    [`--filename=${pod}`, '-f', runtime],
  ]) {
    const { code, err } = await cli(['inject', ...argv]);
    assert.equal(code, 0, err);
    assert.match(err, /: injected/);
  }
});

test('mounted files are layers', async () => {
  const pod = file('all.yaml', stream(r0Yaml, podYaml));
  const gates = file('gates.yaml', 'globalEnabled: false\n');
  assert.match((await cli(['inject', '-f', pod, '--gates', gates])).err, /InjectionOff/);
  const config = file('config.yaml', 'imagse: {}\n');
  const broken = await cli(['inject', '-f', pod, '--config', config]);
  assert.equal(broken.code, 1);
  assert.match(broken.err, /config.yaml.*imagse: unknown key; did you mean images/);
});

test('UTF-16 as Windows writes it', async () => {
  const text = Buffer.from(`\uFEFF${stream(r0Yaml, podYaml)}`, 'utf16le');
  assert.equal((await cli(['inject', '-f', file('utf16.yaml', text)])).code, 0);
});

test('JSON in, JSON out; --format decides otherwise', async () => {
  const json = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}';
  assert.match((await cli(['inject', '-f', '-'], json)).out, /^\{/);
  assert.match((await cli(['inject', '-f', '-', '--format', 'yaml'], json)).out, /^apiVersion: v1\n/);
  assert.match((await cli(['inject', '-f', '-'], `${json}\n---\n${podYaml}`)).out, /^apiVersion: v1\nkind: List\n/);
});

const usage: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /no command; one of inject, explain, status/],
  [['injct'], /unknown command injct; did you mean inject\?/],
  [['--hepl'], /unknown flag --hepl/],
  [['inject'], /name the input with -f FILE/],
  [['inject', 'pod.yaml'], /name the input with -f/],
  [['inject', '-f'], /--filename needs a value/],
  [['inject', '-f', '-', '-f', '-'], /standard input can be read once only/],
  [['inject', '-f', 'missing.yaml'], /missing.yaml cannot be read: there is no such file/],
  [['inject', '-f', '.'], /\. cannot be read: it is a directory/],
  [['inject', '-f', '-', '--format', 'xml'], /--format must be yaml or json, not "xml"/],
  [['inject', '-f', '-', '--server-version', 'new'], /--server-version must be like 1.31/],
  [['inject', '-f', '-', '--explain=yes'], /--explain takes no value/],
  [['inject', '-f', '-', '-n', 'a', '-n', 'b'], /--namespace can be given once only/],
  [['inject', '-f', '-', '--operator-namespace', 'Team2'], /--operator-namespace: "Team2" is no name of a namespace/],
  [['explain', '-f', '-', '-n', 'a/b'], /--namespace: "a\/b" is no name of a namespace/],
  [['inject', '-f', '-', '--config', 'missing.yaml'], /missing.yaml cannot be read/],
];
for (const [argv, message] of usage) {
  test(`wrong usage, exit code 2: rossoctl ${argv.join(' ')}`, async () => {
    const { code, out, err } = await cli(argv, 'x: 1');
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, message);
    assert.equal(err.trim().split('\n').length, 1);
  });
}

test('input that is no text is refused', async () => {
  const { code, err } = await cli(['inject', '-f', file('binary', new Uint8Array([0x66, 0xc3, 0x28]))]);
  assert.equal(code, 2);
  assert.match(err, /is not UTF-8 text/);
});

test('--version and --help', async () => {
  assert.equal((await cli(['--version'])).out, `${version}\n`);
  for (const argv of [['--help'], ['help']])
    assert.match((await cli(argv)).out, /inject .*\n {2}explain .*\n {2}status /);
  for (const argv of [
    ['inject', '--help'],
    ['help', 'inject'],
    ['inject', '-h', '--nothing-read', '-f', 'x'].slice(0, 2),
  ]) {
    const { code, out } = await cli(argv);
    assert.equal(code, 0);
    for (const flag of [
      '--filename',
      '--format',
      '--explain',
      '--namespace',
      '--operator-namespace',
      '--config',
      '--gates',
      '--no-csi-driver',
      '--server-version',
      '--debug',
      '--help',
    ]) {
      assert.ok(out.includes(flag), flag);
    }
  }
});

test('a golden case is the same as a program', async () => {
  const golden = path.resolve(import.meta.dirname, '../golden/inject/agent');
  const expected = (name: string) => readFileSync(path.join(golden, name), 'utf8');
  const { code, out, err } = await program(['inject', '-f', '-', '--explain'], expected('input.yaml'));
  assert.equal(out, expected('output.yaml'));
  assert.equal(`${err}exit code ${code}\n`, expected('explain.txt'));
});
