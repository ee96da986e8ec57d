/** The command `synth` as a user starts it, and the generated files. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-synth-command-'));
after(() => rmSync(work, { recursive: true, force: true }));

const synth = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['stacks/synth.ts', ...args], { cwd: root, encoding: 'utf8' });

test('the command line writes, prints, and says what it did on standard error', () => {
  const out = path.join(work, 'cli');
  const written = synth('--env', 'dev', '--out', out);
  assert.equal(written.status, 0, written.stderr);
  assert.equal(written.stdout, '');
  assert.match(written.stderr, /^dev: \d+ objects in .*cli \(\d+ files changed, 0 removed\)\n$/);
  const other = synth('--env', 'local', '--out', out);
  assert.deepEqual(
    [other.status, other.stderr],
    [1, `synth: ${out} holds the tree of dev: choose another --out, or remove the folder\n`],
  );
  const printed = synth('--env', 'dev', '--stdout', '--image', 'other:1');
  assert.match(printed.stdout, /image: other:1/);
  assert.match(printed.stderr, /^dev: \d+ objects\n$/);
});

test('--gitops writes the tree in a folder of its own, and without it the folder is the tree again', () => {
  const out = path.join(work, 'gitops');
  const folders = () => globSync('*/', { cwd: out }).sort();
  const repository = ['--repo', 'https://git.example/ops.git', '--path', 'clusters/dev'];
  const both = synth('--env', 'dev', '--out', out, '--gitops', 'argocd', '--gitops', 'flux', ...repository);
  assert.equal(both.status, 0, both.stderr);
  assert.deepEqual(folders(), ['argocd', 'flux', 'manifests']);
  assert.equal(synth('--env', 'dev', '--out', out, '--gitops', 'flux', ...repository).status, 0);
  assert.deepEqual(folders(), ['flux', 'manifests']);
  assert.equal(synth('--env', 'dev', '--out', out).status, 0);
  assert.ok(folders().includes('70-webhooks') && !folders().includes('manifests'), folders().join());
});

const misuse: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
  [['--help'], 0, /usage: npm run synth/],
  [['--nope'], 2, /Unknown option '--nope'[\s\S]*usage:/],
  [['--stdout', '--out', 'x'], 2, /leave out --out/],
  [['--stdout', '--gitops', 'flux'], 2, /leave out --gitops/],
  [['--env', 'dev', '--env', 'local'], 2, /--env is given twice: say it once[\s\S]*usage:/],
  [['--gitops', 'argod'], 2, /--gitops "argod": did you mean argocd\?/],
  [['--gitops', 'flux'], 2, /--gitops needs --repo: [\s\S]*usage:/],
  [['--env', 'dev-team1', '--image', 'x:1'], 2, /--image is the operator's, and dev-team1 is a layer of agents/],
  [['--env', 'lokal'], 1, /no environment "lokal": did you mean local\?/],
  [['--env', 'production'], 1, /give --image registry\/rossoctl@sha256/],
];
for (const [args, code, says] of misuse) {
  test(`synth ${args.join(' ')} ends with ${code}`, () => {
    const { status, stdout, stderr } = synth(...args);
    assert.equal(status, code);
    assert.match(stdout + stderr, says);
  });
}

test('the generated files are current', () => {
  const output = execFileSync(process.execPath, ['scripts/gen.ts', '--check'], { cwd: root, encoding: 'utf8' });
  assert.equal(output, '');
});
