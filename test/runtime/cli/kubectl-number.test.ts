/** Unquoted scalars are read as kubectl reads them; each row is what `kubectl create --dry-run=client -o json` makes of it. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { documentsOf } from '../../../runtime/cli/documents.ts';
import { printed } from '../../../runtime/cli/output.ts';
import { inject, podYaml, r0Yaml, stream } from './run-cli.ts';

const read = (text: string) => documentsOf([{ file: 'f.yaml', text: `apiVersion: v1\nkind: X\nvalue: ${text}\n` }]);
const valueOf = (text: string) => read(text)[0]?.object['value'];

const texts = [
  'e5 E0 e10 .e5 -e5 +e1 . -. +. ._ ._5 .5_ _1 --5 +-5 1e 1e+ 0x 0x_ 0o 0o8 0b 0b2 -0b-1',
  '0x1p3 .0x1 1e400 -1e400 .1e400 .iNf inf NaN 0xFFFFFFFFFFFFFFFFF 12:30 190:20:30 2026-01-01 2026-01-01T00:00:00Z 1.2.3 10.0.0.1 5Gi =',
].flatMap((words) => words.split(' '));
for (const text of texts) test(`text: ${text}`, () => assert.equal(valueOf(text), text));

const numbers: readonly (readonly [string, number | bigint])[] = [
  ['0o17', 15],
  ['0O17', 15],
  ['-0o17', -15],
  ['0o17620', 8080],
  ['017', 15],
  ['0644', 420],
  ['08', 8],
  ['09.5', 9.5],
  ['0_7', 7],
  ['00', 0],
  ['-0', 0],
  ['0x1F', 31],
  ['0X1F', 31],
  ['0x_1', 1],
  ['0b11', 3],
  ['-0B11', -3],
  ['0b-1', -1],
  ['1_000', 1000],
  ['-_5', -5],
  ['1_', 1],
  ['1.', 1],
  ['1.e5', 100_000],
  ['1E+5', 100_000],
  ['1e1_0', 1e10],
  ['.5', 0.5],
  ['+.5', 0.5],
  ['.5_0', 0.5],
  ['-.5e-3', -0.0005],
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['18446744073709551615', 18446744073709551615n],
  ['0xFFFFFFFFFFFFFFFF', 18446744073709551615n],
  ['18446744073709551616', 2 ** 64],
  ['+18446744073709551615', 2 ** 64],
  ['!!float 5', 5],
  ['!!int "5"', 5],
];
for (const [text, value] of numbers) test(`number: ${text}`, () => assert.equal(valueOf(text), value));

const others: readonly (readonly [string, unknown])[] = [
  ['!!str 5', '5'],
  ['! 5', '5'],
  ['!other 5', '5'],
  ['!!binary aGk=', 'hi'],
  ['!!timestamp 2026-01-01', '2026-01-01'],
  ['!!set {a, b}', { a: null, b: null }],
  ['!!omap [a: 1]', [{ a: 1 }]],
  ['y', true],
  ['Off', false],
  ['tRUE', 'tRUE'],
  ['~', null],
  ['nULL', 'nULL'],
];
for (const [text, value] of others) test(`as written: ${text}`, () => assert.deepEqual(valueOf(text), value));

for (const text of ['.inf', '-.inf', '+.Inf', '.INF', '.nan', '.NaN', '!!int 5.5', '!!float abc', '!!int [']) {
  test(`refused: ${text}`, () =>
    assert.throws(() => valueOf(text), { name: 'CliError', message: /^f\.yaml, document 1, line [34]: / }));
}

test('a number that JSON does not have is refused with the object, the field and what to do', async () => {
  const { code, err } = await inject(stream(r0Yaml, podYaml.replace('image:', 'args: [a, .inf], image:')));
  assert.equal(code, 2);
  assert.match(
    err,
    /document 2, line \d+: Pod team1: spec\.containers\[0\]\.args\[1\] is \.inf, which is no number in JSON; put it in quotes if it is text/,
  );
});

test('a pod whose words look like numbers is injected, and a port may be octal', async () => {
  const pod = podYaml
    .replace('image:', 'args: [e5, E0, .e5, -e5, +e1], workingDir: ., image:')
    .replace('8080', '0o17620');
  const { code, out, err } = await inject(stream(r0Yaml, pod));
  assert.equal(code, 0, err);
  const [agent] = (parse(out) as { spec: { containers: readonly Record<string, unknown>[] } }).spec.containers;
  assert.deepEqual(agent?.['args'], ['e5', 'E0', '.e5', '-e5', '+e1']);
  assert.deepEqual([agent['workingDir'], agent['ports']], ['.', [{ containerPort: 8080 }]]);
});

test('text that kubectl would take for a number is printed in quotes', () => {
  for (const [text] of numbers) {
    const value = text.replace(/^!.* /, '');
    const out = printed([{ apiVersion: 'v1', kind: 'X', value }], { format: 'yaml', asList: false });
    const [document] = documentsOf([{ file: 'f.yaml', text: out }]);
    assert.equal(document?.object['value'], value);
  }
});
