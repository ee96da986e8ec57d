// The key that decides whether a built binary is used again.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  binaries,
  buildFlags,
  cacheKey,
  kubernetesVersion,
  moduleFiles,
  pulumiVersion,
  spireVersion,
} from './binaries.ts';

const files = [
  { path: 'go.mod', content: 'module a' },
  { path: 'go.sum', content: 'b' },
];
const key = cacheKey(files, 'go1.26', ['-trimpath']);

test('the key depends on nothing but files, Go release and flags, whatever the order of the files', () => {
  assert.equal(cacheKey(files.toReversed(), 'go1.26', ['-trimpath']), key);
});

const changes: readonly (readonly [string, string])[] = [
  [
    'another go.sum',
    cacheKey(
      [
        { path: 'go.mod', content: 'module a' },
        { path: 'go.sum', content: 'c' },
      ],
      'go1.26',
      ['-trimpath'],
    ),
  ],
  ['another Go release', cacheKey(files, 'go1.27', ['-trimpath'])],
  ['other flags', cacheKey(files, 'go1.26', ['-trimpath', '-race'])],
  [
    'text moved from one file to the next',
    cacheKey(
      [
        { path: 'go.mod', content: 'module ' },
        { path: 'go.sum', content: 'ab' },
      ],
      'go1.26',
      ['-trimpath'],
    ),
  ],
];

for (const [change, changed] of changes) {
  test(`${change} makes another key`, () => assert.notEqual(changed, key));
}

test('the cluster reports the release that go.mod requires', () => {
  const goMod = moduleFiles('kubernetes').find(({ path }) => path === 'go.mod')?.content ?? '';
  assert.ok(goMod.includes(`k8s.io/kubernetes ${kubernetesVersion} `), 'go.mod requires another release');
  assert.match(buildFlags('kubernetes').join(' '), new RegExp(`version.gitVersion=${kubernetesVersion}`));
});

test('SPIRE says it is the release that go.mod requires', () => {
  const goMod = moduleFiles('spire').find(({ path }) => path === 'go.mod')?.content ?? '';
  assert.ok(goMod.includes(`github.com/spiffe/spire v${spireVersion} `), 'go.mod requires another release');
});

test('Pulumi says it is the release that go.mod requires', () => {
  const goMod = moduleFiles('pulumi').find(({ path }) => path === 'go.mod')?.content ?? '';
  assert.ok(goMod.includes(`github.com/pulumi/pulumi/pkg/v3 v${pulumiVersion}`), 'go.mod requires another release');
});

test('every binary comes from a module that pins its dependencies', () => {
  for (const { module } of binaries) {
    assert.ok(
      moduleFiles(module).some(({ path }) => path === 'go.sum'),
      module,
    );
  }
});
