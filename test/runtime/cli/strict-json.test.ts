/** JSON documents of the input are read strictly and told about in JSON words, with file, line and column. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli, inject } from './run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-json-'));
after(() => rmSync(directory, { recursive: true }));

const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}';
const withMember = (member: string) => pod.replace('"spec"', `\n  ${member},\n"spec"`);

const refused: readonly (readonly [what: string, text: string, words: RegExp])[] = [
  [
    'a member twice',
    withMember('"a": 1,\n  "a": 2'),
    /document 1: the member "a" occurs twice in one object \(line 3, column 3\)/,
  ],
  [
    'a member twice in a later document',
    `${pod}\n---\n${pod}\n ${withMember('"kind": "Pod"')}`,
    /document 3: the member "kind" occurs twice in one object \(line 5, column 3\)/,
  ],
  ['a number beyond a double', withMember('"a": 1E400'), /document 1: a number is out of range \(line 2, column 8\)/],
  ['a whole number beyond a double', withMember(`"a": 1${'0'.repeat(400)}`), /a number is out of range/],
  [
    'nesting without end',
    `{"a": ${'['.repeat(300)}${']'.repeat(300)}}`,
    /document 1: it is nested deeper than 256 levels \(line 1, column 262\)/,
  ],
  ['text behind the document', `${pod} x`, /document 2: "x" is unexpected \(line 1, column 95\)/],
  ['a bracket behind the document', `${pod}\n]`, /document 2: "\]" is unexpected \(line 2, column 1\)/],
  ['a comma between documents', `${pod},\n${pod}`, /document 2: "," is unexpected \(line 1, column 94\)/],
  ['a document that ends too early', '{"kind": "Pod",\n', /document 1: it ends too early \(line 2, column 1\)/],
  ['a missing colon', '{"kind" "Pod"}', /document 1: "\\"" is unexpected \(line 1, column 9\)/],
  ['a list that ends too early', '[{"kind": "Pod"}', /document 1: it ends too early/],
];
for (const [what, text, words] of refused) {
  test(`exit 2: ${what}`, async () => {
    const { code, out, err } = await inject(text);
    assert.deepEqual([code, out], [2, ''], err);
    assert.match(err, words);
    assert.match(err, /^rossoctl: standard input, document \d+: /);
  });
}

test('explain reads as strictly', async () => {
  const { code, err } = await cli(['explain', '-f', '-'], withMember('"a": 1, "a": 2'));
  assert.equal(code, 2);
  assert.match(err, /the member "a" occurs twice/);
});

test('flow YAML is no bad JSON; a file named .json is JSON and nothing else', async () => {
  const flow = pod.replace('"v1"', 'v1').replace('}]}}', '},]}}');
  assert.equal((await inject(flow)).code, 0);
  const file = path.join(directory, 'pod.json');
  writeFileSync(file, flow);
  const { code, err } = await cli(['inject', '-f', file]);
  assert.equal(code, 2);
  assert.match(err, /pod\.json, document 1: "v" is unexpected \(line 1, column 15\)/);
});

test('broken flow YAML is told in the words of YAML', async () => {
  const { code, err } = await inject('{apiVersion: v1, kind: Pod');
  assert.equal(code, 2);
  assert.match(err, /document 1, line 1: Flow map must end with a }/);
});

for (const number of ['.inf', '-.inf', '.nan']) {
  test(`YAML: ${number} is no number that Kubernetes could take`, async () => {
    const { code, err } = await inject(`apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {a: [${number}]}\n`);
    assert.equal(code, 2);
    assert.match(
      err,
      /document 1, line 4: Pod p: spec\.a\[0\] is -?\.(inf|nan), which is no number in JSON; put it in quotes/,
    );
  });
}
