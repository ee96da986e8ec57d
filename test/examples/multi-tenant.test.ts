/** The tenants, run as their README says: what each has, and that no right reaches beyond its namespace. */

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { parse } from 'yaml';
import { assertGolden } from '../constructs/golden.ts';
import { documentedCommands, placeExamples, runIn } from './documented.ts';

const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-multi-tenant-'));
after(() => rmSync(work, { recursive: true, force: true }));
const tree = path.join(work, 'dist/multi-tenant');
const read = (file: string) => readFileSync(path.join(tree, file), 'utf8');

before(() => {
  placeExamples(work);
  const [command = ''] = documentedCommands('multi-tenant');
  const { status, stderr } = runIn(work, command);
  assert.equal(status, 0, stderr);
});

test('one tenant and the policies over all of them are as written', () => {
  const files = globSync(['*/atlas/*.yaml', '60-policy/*/*-tenant-*.yaml'], { cwd: tree }).sort();
  // The operator's own Role changes with its features, and has tests of its own.
  const texts = files.filter((file) => !file.includes('rossoctl-operator')).map(read);
  assertGolden('example-multi-tenant.yaml', texts.join('---\n'));
});

test('the platform watches the tenants’ namespaces and nothing else', () => {
  assert.match(
    read('40-operator/rossoctl-system/deployment-rossoctl-operator.yaml'),
    /name: NAMESPACES2WATCH\n\s+value: atlas,borealis,cumulus\n/,
  );
});

test('developers are bound in their own namespace alone', () => {
  const bindings = globSync('30-rbac/**/*binding-*.yaml', { cwd: tree }).map(
    (file) =>
      parse(read(file)) as {
        readonly metadata: { readonly namespace?: string };
        readonly subjects: readonly { readonly kind: string; readonly name: string }[];
      },
  );
  const groups = bindings.flatMap(({ metadata, subjects }) =>
    subjects.filter(({ kind }) => kind === 'Group').map(({ name }) => [metadata.namespace, name]),
  );
  assert.equal(groups.length, 6);
  for (const [namespace, group] of groups) assert.equal(group, `${namespace}-developers`);
});
