/** Reading manifests: every form in which documents come, and values that must not change on the way. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { documentsOf } from '../../../runtime/cli/documents.ts';
import { printed } from '../../../runtime/cli/output.ts';

const read = (text: string) => documentsOf([{ file: 'f.yaml', text }]);
const named = (text: string) => read(text).map(({ object }) => (object['metadata'] as { name: string }).name);
const yaml = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;
const json = (name: string) => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"}}`;

const forms: readonly (readonly [string, string])[] = [
  ['YAML documents', `${yaml('a')}---\n${yaml('b')}`],
  ['YAML with separators at both ends', `---\n${yaml('a')}---\n${yaml('b')}---\n`],
  ['YAML ended by dots', `${yaml('a')}...\n---\n${yaml('b')}...\n`],
  [
    'empty documents and comments between',
    `# first\n---\n---\n# x\n${yaml('a')}---\n# only a comment\n---\n${yaml('b')}---\n`,
  ],
  ['CRLF and a byte order mark', `\uFEFF${yaml('a')}---\n${yaml('b')}`.replaceAll('\n', '\r\n')],
  ['separators with comments and blanks', `--- # one\n${yaml('a')}---  \n${yaml('b')}`],
  ['a directive', `%YAML 1.1\n---\n${yaml('a')}---\n${yaml('b')}`],
  ['JSON one after the other', `${json('a')}${json('b')}`],
  ['JSON by lines', `${json('a')}\n${json('b')}\n`],
  ['JSON with separators', `---\n${json('a')}\n---\n${json('b')}\n---`],
  ['JSON and YAML mixed', `${json('a')}\n---\n${yaml('b')}`],
  ['flow YAML that is no JSON', `{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n${yaml('b')}`],
  ['a List', `apiVersion: v1\nkind: List\nitems: [${json('a')}, ${json('b')}]\n`],
  [
    'a PodList whose items leave out their kind',
    '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}',
  ],
  [
    'a List in a List',
    `apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: [${json('a')}]}, ${json('b')}]\n`,
  ],
  ['an empty List beside', `apiVersion: v1\nkind: List\nitems: []\n---\n${yaml('a')}---\n${yaml('b')}`],
];
for (const [what, text] of forms) {
  test(`read: ${what}`, () => assert.deepEqual(named(text), ['a', 'b']));
}

test('each document says where it stands', () => {
  const origins = read(`# top\n---\n${yaml('a')}---\n\n${yaml('b')}`).map(({ origin }) => origin);
  assert.deepEqual(origins, ['f.yaml, document 1 (line 3)', 'f.yaml, document 2 (line 8)']);
});

test('a separator inside a block of text is indented and stays text', () => {
  const [document] = read('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    ---\n    a: 1\n');
  assert.deepEqual(document?.object['data'], { x: '---\na: 1\n' });
});

test('scalars are what kubectl takes them for', () => {
  const [document] = read(
    `${yaml('a')}x: {mode: 0644, time: 2026-01-01T00:00:00Z, span: 12:30, on: "on", big: 9007199254740993, hash: 7e5}\n`,
  );
  const { mode, time, span, big } = (document?.object['x'] ?? {}) as Record<string, unknown>;
  assert.deepEqual([mode, time, span, big], [420, '2026-01-01T00:00:00Z', '12:30', 9007199254740993n]);
});

test('whole numbers beyond 2^53 keep their digits in both formats', () => {
  for (const text of [`${yaml('a')}n: 9007199254740993\n`, `{"apiVersion":"v1","kind":"Pod","n":9007199254740993}`]) {
    const [document] = read(text);
    for (const format of ['yaml', 'json'] as const) {
      assert.match(printed([document?.object], { format, asList: false }), /9007199254740993/);
    }
  }
});

test('an alias is its value, in the output too', () => {
  const [document] = read(`${yaml('a')}x: &l {b: "1"}\nz: {<<: *l, y: *l}\n`);
  const out = printed([document?.object], { format: 'yaml', asList: false });
  assert.ok(!out.includes('*') && !out.includes('&'));
  assert.deepEqual((parse(out) as { z: unknown }).z, { b: '1', y: { b: '1' } });
});

test('aliases that multiply are refused', () => {
  const lines = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
  assert.throws(() => read(`a0: &a0 [x]\n${lines.join('\n')}\n`), /document 1, line 1: .*alias/i);
});

test('nesting without end is refused', () => {
  assert.throws(() => read('['.repeat(100_000)), /nested too deeply|line/);
});

test('printed YAML reads back as the same, by YAML 1.1 and 1.2 alike', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string(),
        fc.oneof(
          fc.jsonValue(),
          fc.constantFrom('yes', 'on', '0644', '1e3', '12:30', '2026-01-01', '~', 'null', '.5', '0x1F', '1_000', 'n'),
        ),
      ),
      (value) => {
        const object = JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'X', value })) as object;
        const out = printed([object], { format: 'yaml', asList: false });
        assert.deepEqual(parse(out), object);
        assert.deepEqual(JSON.parse(printed([read(out)[0]?.object], { format: 'json', asList: false })), object);
      },
    ),
    { numRuns: 300 },
  );
});

test('any text is read or refused with a sentence', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `${yaml('a')}---\n${text}`),
      ),
      (text) => {
        try {
          read(text);
        } catch (error) {
          assert.ok(error instanceof Error && error.name === 'CliError', String(error));
        }
      },
    ),
    { numRuns: 500 },
  );
});
