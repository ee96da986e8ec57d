/** What the manifest of the npm package says, from what the checkout's says and the compiled code imports. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { importedPackages, neededNode, packageManifest } from '../../scripts/package-manifest.ts';

const checkout = {
  name: 'x',
  version: '1.2.3',
  description: 'X.',
  license: 'Apache-2.0',
  bin: { x: 'bin/x.js' },
  exports: { '.': './a/index.ts', './b': './b.ts' },
  dependencies: { yaml: '2.9.1', cdk8s: '2.70.106', undici: '8.13.1' },
  peerDependencies: { cdk8s: '^2.70.0' },
  peerDependenciesMeta: {},
};

test('dependencies are what the code imports and a consumer does not bring, in compatible releases', () => {
  const { dependencies, peerDependencies } = packageManifest(checkout, ['cdk8s', 'yaml']);
  assert.deepEqual(dependencies, { yaml: '^2.9.1' });
  assert.deepEqual(peerDependencies, { cdk8s: '^2.70.0' });
});

test('it asks for the Node that its most demanding dependency asks for, and for no newer one', () => {
  const { engines } = packageManifest(checkout, ['yaml', 'undici']);
  assert.deepEqual(engines, { node: `>=${neededNode}` });
  const modules = path.resolve(import.meta.dirname, '../../node_modules');
  const asked = ['@kubernetes/client-node', 'prom-client', 'typebox', 'undici', 'yaml'].map((name) => {
    const manifest = JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8')) as {
      readonly engines?: { readonly node?: string };
    };
    return manifest.engines?.node?.match(/>= ?([\d.]+)$/)?.[1] ?? '0';
  });
  const newestFirst = asked.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  assert.equal(newestFirst[0], neededNode);
});

test('what is exported is compiled, with its declarations first', () => {
  const { exports, main, types } = packageManifest(checkout, []);
  assert.deepEqual(exports, {
    '.': { types: './a/index.d.ts', default: './a/index.js' },
    './b': { types: './b.d.ts', default: './b.js' },
    './package.json': './package.json',
  });
  assert.deepEqual([main, types], ['./a/index.js', './a/index.d.ts']);
});

test('a package that a consumer would not have is refused', () => {
  assert.throws(() => packageManifest(checkout, ['left-pad']), /imports left-pad, which is no dependency/);
});

test('an export that cannot be compiled is refused', () => {
  assert.throws(
    () => packageManifest({ ...checkout, exports: { '.': './a.js' } }, []),
    /exports \.\/a\.js, which is no/,
  );
});

test('imports are found in code and in declarations, in every form', () => {
  const texts = [
    "import { a } from 'typebox/value';\nimport fs from 'node:fs';\nimport './b.js';",
    "export { c } from '@pulumi/pulumi/x';\nconst d = await import('undici');",
    'import \'side-effects\';\nexport declare const e: import("yaml").Document;',
  ];
  assert.deepEqual(importedPackages(texts), ['@pulumi/pulumi', 'side-effects', 'typebox', 'undici', 'yaml']);
});
