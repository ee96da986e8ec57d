/** Synthesis of each environment: the whole output as golden files, its order, and the folder it is written to. */

import assert from 'node:assert/strict';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { App, ApiObject, Chart } from 'cdk8s';
import { environments } from '../../stacks/environments.ts';
import { manifestsOf, streamOf, treeOf } from '../../stacks/tree.ts';
import { markerName, writeTree } from '../../stacks/write-tree.ts';
import { assertGolden } from '../constructs/golden.ts';
import { appOf, platformEnvironments } from '../support/environments.ts';

const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-synth-'));
after(() => rmSync(work, { recursive: true, force: true }));

const manifests = (environment: string) => manifestsOf(appOf(environment));

for (const environment of environments()) {
  test(`golden: ${environment}`, () => {
    assertGolden(`${environment}.yaml`, streamOf(manifests(environment)));
  });

  test(`${environment}: two runs give the same bytes`, () => {
    assert.deepEqual(treeOf(manifests(environment)), treeOf(manifests(environment)));
  });

  test(`${environment}: the tree, read in the order of its names, is the stream`, () => {
    const objects = treeOf(manifests(environment)).filter(({ path: name }) => name.endsWith('.yaml'));
    const sorted = [...objects].sort((a, b) => (a.path < b.path ? -1 : 1));
    assert.equal(sorted.map(({ text }) => text).join('---\n'), streamOf(manifests(environment)));
  });
}

for (const environment of platformEnvironments()) {
  test(`${environment}: namespaces and CRDs first, the policy after the operator, webhooks last`, () => {
    const kinds = [...new Set(manifests(environment).map(({ kind }) => kind))];
    const before = (first: string, then: string) =>
      assert.ok(kinds.indexOf(first) < kinds.indexOf(then), `${first} before ${then}`);
    assert.equal(kinds[0], 'Namespace');
    before('CustomResourceDefinition', 'ConfigMap');
    before('ConfigMap', 'Deployment');
    before('Role', 'RoleBinding');
    before('RoleBinding', 'Deployment');
    before('Deployment', 'Service');
    before('Service', 'ValidatingAdmissionPolicy');
    before('ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding');
    before('ValidatingAdmissionPolicyBinding', 'MutatingWebhookConfiguration');
    assert.deepEqual(kinds.slice(-2), ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']);
  });
}

test('RB-01 dev is namespaced: no cluster-wide right over workloads', () => {
  const roles = manifests('dev').filter(({ kind }) => kind === 'ClusterRole') as unknown as readonly {
    readonly rules: readonly { readonly resources: readonly string[] }[];
  }[];
  const resources = roles.flatMap(({ rules }) => rules.flatMap((rule) => rule.resources));
  for (const scoped of ['deployments', 'pods', 'configmaps', 'secrets', 'agentruntimes']) {
    assert.equal(resources.includes(scoped), false, scoped);
  }
});

test('objects that would share a file are refused', () => {
  const app = new App();
  for (const id of ['a', 'b']) {
    const metadata = { name: 'same', namespace: 'ns' };
    new ApiObject(new Chart(app, id), 'x', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
  assert.throws(
    () => manifestsOf(app),
    /2 objects for 20-configuration\/ns\/configmap-same\.yaml: give each its own name/,
  );
});

test('one name in two namespaces is two files', () => {
  const app = new App();
  const chart = new Chart(app, 'a');
  for (const namespace of ['team1', 'team2']) {
    new ApiObject(chart, namespace, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'same', namespace } });
  }
  assert.equal(treeOf(manifestsOf(app)).filter(({ path: name }) => name.endsWith('same.yaml')).length, 2);
});

test('a second run removes what is gone, and only that', () => {
  const dir = path.join(work, 'stale');
  writeTree(dir, [
    { path: 'a/one.yaml', text: '1' },
    { path: 'b/two.yaml', text: '2' },
  ]);
  writeFileSync(path.join(dir, 'a/mine.txt'), 'kept');
  assert.deepEqual(writeTree(dir, [{ path: 'b/two.yaml', text: '2' }]), { files: 1, changed: 0, removed: 1 });
  assert.equal(existsSync(path.join(dir, 'a/one.yaml')), false);
  assert.equal(readFileSync(path.join(dir, 'a/mine.txt'), 'utf8'), 'kept');
  rmSync(path.join(dir, 'a/mine.txt'));
  writeTree(dir, [{ path: 'c/three.yaml', text: '3' }]);
  assert.deepEqual(globSync('**/*', { cwd: dir }).sort(), ['a', 'c', 'c/three.yaml']);
});

test('a folder that synth did not write is left alone', () => {
  const dir = path.join(work, 'foreign');
  mkdirSync(dir);
  writeFileSync(path.join(dir, 'precious.yaml'), 'x');
  assert.throws(() => writeTree(dir, []), /foreign is not empty and was not written by synth .*choose another --out/);
  assert.equal(readFileSync(path.join(dir, 'precious.yaml'), 'utf8'), 'x');
});

test('a run that is interrupted, the first or a later one, leaves a folder that the next run mends', () => {
  const dir = path.join(work, 'interrupted');
  // No file can be below a file: the run ends here, after its first file.
  const broken = (name: string) => [
    { path: `${name}.yaml`, text: '1' },
    { path: `${name}.yaml/below.yaml`, text: '2' },
  ];
  assert.throws(() => writeTree(dir, broken('a')));
  assert.throws(() => writeTree(dir, broken('b')));
  assert.deepEqual(globSync('*', { cwd: dir }).sort(), ['a.yaml', 'b.yaml']);
  writeTree(dir, [{ path: 'c.yaml', text: '3' }]);
  assert.deepEqual(globSync('*', { cwd: dir }), ['c.yaml']);
  assert.equal(readFileSync(path.join(dir, markerName), 'utf8'), 'c.yaml\n');
});

test('the tree of another environment is left as it is; one of a release that wrote no owner is taken', () => {
  const dir = path.join(work, 'owned');
  const files = [{ path: 'a.yaml', text: '1' }];
  writeTree(dir, files);
  writeTree(dir, files, 'acme');
  assert.equal(readFileSync(path.join(dir, markerName), 'utf8'), '# tree of acme\na.yaml\n');
  assert.throws(
    () => writeTree(dir, [], 'acme-alpha'),
    /owned holds the tree of acme: choose another --out, or remove the folder/,
  );
  assert.equal(readFileSync(path.join(dir, 'a.yaml'), 'utf8'), '1');
  assert.deepEqual(writeTree(dir, [], 'acme'), { files: 0, changed: 0, removed: 1 });
});

test('a file where the folder should be is refused in words', () => {
  const file = path.join(work, 'file');
  writeFileSync(file, 'x');
  const says = /a file is in its place or above it\): choose another --out/;
  assert.throws(() => writeTree(file, []), says);
  assert.throws(() => writeTree(path.join(file, 'below'), []), says);
  assert.equal(readFileSync(file, 'utf8'), 'x');
});

test('an edited marker file cannot reach outside', () => {
  const dir = path.join(work, 'marker');
  const outside = path.join(work, 'outside.yaml');
  writeFileSync(outside, 'x');
  writeTree(dir, [{ path: 'a.yaml', text: '1' }]);
  writeFileSync(path.join(dir, markerName), `../outside.yaml\n${outside}\na.yaml\n`);
  assert.equal(writeTree(dir, []).removed, 1);
  assert.ok(existsSync(outside));
});

test('a symbolic link, of a folder, a file or the marker, leads nothing outside; the folder itself may be one', () => {
  const outside = path.join(work, 'linked');
  const files = [{ path: 'a/one.yaml', text: '1' }];
  for (const link of ['a', 'a/one.yaml', markerName]) {
    const dir = path.join(work, `links-${path.basename(link)}`);
    writeTree(dir, files);
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'one.yaml'), 'theirs');
    rmSync(path.join(dir, link), { recursive: true });
    symlinkSync(link === 'a' ? outside : path.join(outside, 'one.yaml'), path.join(dir, link));
    for (const next of [[], [{ path: 'a/one.yaml', text: '2' }]]) {
      assert.throws(() => writeTree(dir, next), /is a symbolic link, and synth writes through none: remove it/);
    }
    assert.equal(readFileSync(path.join(outside, 'one.yaml'), 'utf8'), 'theirs');
    rmSync(outside, { recursive: true });
  }
  const real = path.join(work, 'real');
  mkdirSync(real);
  symlinkSync(real, path.join(work, 'alias'));
  assert.equal(writeTree(path.join(work, 'alias'), files).changed, 1);
});

test('the root of a repository that holds nothing yet is taken', () => {
  const dir = path.join(work, 'repository');
  mkdirSync(path.join(dir, '.git'), { recursive: true });
  writeFileSync(path.join(dir, '.git/HEAD'), 'x');
  writeTree(dir, [{ path: 'a.yaml', text: '1' }]);
  assert.deepEqual(globSync('*', { cwd: dir }), ['a.yaml']);
  assert.equal(readFileSync(path.join(dir, '.git/HEAD'), 'utf8'), 'x');
});
