/** `rossoctl inject` on input that cannot be read or that no API server would take: exit code 2 and one sentence. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { inject, podYaml, r0Yaml, stream } from './run-cli.ts';

const unreadable: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '', /no documents/],
  ['comments alone', '# nothing\n---\n', /no documents/],
  ['only state', r0Yaml, /nothing to inject/],
  ['broken YAML', stream(r0Yaml, 'kind: Pod\n  a: 1\n'), /standard input, document 2, line 8: /],
  ['broken JSON', '{"kind": "Pod",', /document 1: it ends too early \(line 1, column 16\)/],
  ['a duplicate key', 'kind: Pod\nkind: Pod\n', /line 2: .*unique/],
  ['a scalar', 'just text\n', /no Kubernetes object: it is the string/],
  ['a list of things', '[1, 2]', /it is a list/],
  ['no kind', 'apiVersion: v1\n', /kind is missing/],
  ['no metadata', 'apiVersion: v1\nkind: Pod\nspec: {}\n', /Pod: metadata is missing/],
  [
    'a Pod without containers',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n',
    /spec.containers is missing/,
  ],
  [
    'a label that is no text',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {a: true}}\n',
    /metadata.labels\["a"\].*quotes/,
  ],
  [
    'env that is no text',
    podYaml.replace('ports:', 'env: [{name: A, value: 1}], ports:'),
    /env\[0\].value must be a string, not the number 1; put it in quotes/,
  ],
  [
    'a Deployment without template',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {}\n',
    /spec.template is missing/,
  ],
  [
    'an AgentRuntime without type',
    stream(podYaml, r0Yaml.replace('  type: agent\n', '')),
    /AgentRuntime team1\/weather: spec.type is missing/,
  ],
  [
    'an AgentRuntime with a wrong value',
    stream(podYaml, `${r0Yaml}  mtlsMode: always\n`),
    /spec.mtlsMode: "always" is not allowed; must be one of disabled, permissive, strict/,
  ],
  [
    'an AgentRuntime with an unknown field',
    stream(podYaml, `${r0Yaml}  mtlsmode: strict\n`),
    /spec.mtlsmode: unknown key; did you mean mtlsMode/,
  ],
];
for (const [what, text, message] of unreadable) {
  test(`unreadable input, exit code 2: ${what}`, async () => {
    const { code, out, err } = await inject(text);
    assert.deepEqual([code, out], [2, ''], err);
    assert.match(err, message);
    assert.equal(err.trim().split('\n').length, 1);
  });
}
