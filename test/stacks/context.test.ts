/** A context that the kubeconfig does not have is refused, and nothing that cannot be known. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { contextProblem } from '../../stacks/context.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-context-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
}
const two = file('two', 'contexts:\n- name: prod\n  context: {}\n- name: staging\n');
const other = file('other', 'contexts:\n- name: lab\n');

test('a context that is there, in whichever file, is no problem, nor is none', () => {
  assert.equal(contextProblem('prod', two), undefined);
  assert.equal(contextProblem('lab', [two, other].join(path.delimiter)), undefined);
  assert.equal(contextProblem(undefined, two), undefined);
});

test('one that is not there is told with those that are', () => {
  assert.match(contextProblem('prd', two) ?? '', /context: .*two has no context "prd": did you mean prod\?/);
  assert.match(contextProblem('nope', two) ?? '', /has no context "nope": there are prod, staging/);
  assert.match(contextProblem('nope', file('empty', 'kind: Config\n')) ?? '', /there are none/);
});

test('where a kubeconfig cannot be read nothing is said: a preview needs no cluster', () => {
  for (const path of [`${folder}/absent`, file('broken', '{'), `${two}:${folder}/absent`]) {
    assert.equal(contextProblem('nope', path), undefined);
  }
});
