/** The page about the constructs shows code that type-checks, synthesizes, and is the code in the repository. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as api from '../../constructs/index.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { exampleApp } from './documented-example.ts';

const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');

test('docs/constructs.md shows the example as it is', () => {
  const source = read('test/constructs/documented-example.ts').replace("'../../constructs/index.ts'", "'rossoctl'");
  const code = source.slice(source.indexOf('import { App'));
  assert.ok(
    read('docs/constructs.md').includes(code),
    'docs/constructs.md differs from test/constructs/documented-example.ts',
  );
});

test('the example synthesizes', () => {
  const kinds = manifestsOf(exampleApp()).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'AgentRuntime').length, 3);
});

test('docs/constructs.md names every public construct', () => {
  const page = read('docs/constructs.md');
  const constructs = Object.keys(api).filter((name) => name !== 'CustomResourceDefinitions');
  for (const name of constructs) assert.ok(page.includes(`\`${name}\``), name);
});
