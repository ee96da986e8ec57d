/** The GitOps repository of the examples: what is committed is what its sources make, and its CI script tells when it is not. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { parse } from 'yaml';
import { generate } from '../../examples/gitops/generate.ts';

const example = path.resolve(import.meta.dirname, '../../examples/gitops');
const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-gitops-example-'));
after(() => rmSync(work, { recursive: true, force: true }));

/** Path → text of every file below, hidden ones too. */
function filesBelow(dir: string, pattern: string): ReadonlyMap<string, string> {
  const files = globSync([pattern, `${pattern}/.rossoctl-synth`], { cwd: dir, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const names = files.map((each) => path.relative(dir, path.join(each.parentPath, each.name))).sort();
  return new Map(names.map((name) => [name, readFileSync(path.join(dir, name), 'utf8')]));
}

const committed = path.join(example, 'clusters');

test('what is committed of the agents is what the sources make', () => {
  const dir = path.join(work, 'fresh');
  generate(dir);
  if (process.env['UPDATE_GOLDEN'] === '1') generate(committed);
  const fresh = filesBelow(dir, '*/weather/**');
  assert.ok(fresh.size > 20, [...fresh.keys()].join(' '));
  assert.deepEqual(filesBelow(committed, '*/weather/**'), fresh, 'run: node examples/gitops/generate.ts');
});

test('each Application points at the folder that it lies beside', () => {
  const dir = path.join(work, 'paths');
  const written = generate(dir);
  for (const folder of written.keys()) {
    const { metadata, spec } = parse(readFileSync(path.join(dir, folder, 'argocd/application.yaml'), 'utf8')) as {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly source: { readonly path: string } };
    };
    assert.equal(spec.source.path, `clusters/${folder}/manifests`);
    assert.equal(metadata.name, `rossoctl-${folder.replace('/', '-')}`);
  }
  assert.deepEqual(
    [...generate(dir).values()].map(({ changed, removed }) => changed + removed),
    [0, 0, 0, 0],
  );
});

test('the CI script passes on what was generated and names a file that was edited', () => {
  const repository = path.join(work, 'repository');
  const clusters = path.join(repository, 'clusters');
  generate(clusters);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args]);
  const commit = () => {
    git('add', '.');
    git('commit', '--quiet', '--no-verify', '-m', 'state');
  };
  const ci = () => spawnSync('sh', [path.join(example, 'ci.sh'), clusters], { encoding: 'utf8' });
  git('init', '--quiet');
  commit();
  const clean = ci();
  assert.equal(clean.status, 0, clean.stderr);
  const [deployment = ''] = globSync('clusters/dev/weather/manifests/*/*/deployment-*.yaml', { cwd: repository });
  appendFileSync(path.join(repository, deployment), '# by hand\n');
  commit();
  const edited = ci();
  assert.equal(edited.status, 1, edited.stdout);
  assert.match(edited.stderr, /is not what its sources make: run .*generate\.ts and commit\n/);
  assert.ok(edited.stderr.includes(` M ${deployment}`), edited.stderr);
});
