/** A context or kubeconfig that is not there is refused, and nothing that cannot be known. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { clusterProblem } from '../../stacks/context.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-context-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
}
const two = file('two', 'contexts:\n- name: prod\n  context: {}\n- name: staging\n');
const other = file('other', 'contexts:\n- name: lab\n');

const problemOf = (context: string | undefined, shell: string) => clusterProblem({ context }, shell);

test('a context that is there, in whichever file, is no problem, nor is none', () => {
  assert.equal(problemOf('prod', two), undefined);
  assert.equal(problemOf('lab', [two, other].join(path.delimiter)), undefined);
  assert.equal(problemOf(undefined, two), undefined);
});

test('one that is not there is told with those that are', () => {
  assert.match(problemOf('prd', two) ?? '', /context: .*two has no context "prd": did you mean prod\?/);
  assert.match(problemOf('nope', two) ?? '', /has no context "nope": there are prod, staging/);
  assert.match(problemOf('nope', file('empty', 'kind: Config\n')) ?? '', /there are none/);
});

test('where the kubeconfig of the shell cannot be read nothing is said: a preview needs no cluster', () => {
  for (const shell of [`${folder}/absent`, file('broken', '{'), `${two}:${folder}/absent`]) {
    assert.equal(problemOf('nope', shell), undefined);
  }
});

test('a kubeconfig that the stack names is the one that counts', () => {
  assert.equal(clusterProblem({ context: 'lab', kubeconfig: other }, two), undefined);
  assert.equal(clusterProblem({ kubeconfig: other }, `${folder}/absent`), undefined);
  assert.match(clusterProblem({ context: 'prod', kubeconfig: other }, two) ?? '', /other has no context "prod"/);
});

const unusable: readonly (readonly [what: string, kubeconfig: string, says: RegExp])[] = [
  ['is not there', path.join(folder, 'absent'), /absent does not exist/],
  ['would be below a file', path.join(two, 'below'), /below does not exist/],
  ['is a folder', folder, /is a folder/],
  ['is no YAML', file('no-yaml', '{'), /no-yaml is no kubeconfig/],
  ['is a text', file('text', 'hello'), /text is no kubeconfig/],
  ['is below a home', '~/no-such-kubeconfig', /: \/.*\/no-such-kubeconfig does not exist/],
];
for (const [what, kubeconfig, says] of unusable) {
  test(`refused, whatever the context: a kubeconfig of the stack that ${what}`, () => {
    const problem = clusterProblem({ kubeconfig }) ?? '';
    assert.match(
      problem,
      /^config\.rossoctl:cluster\.kubeconfig: .*: write the path of a kubeconfig, or leave the key out/,
    );
    assert.match(problem, says);
  });
}
