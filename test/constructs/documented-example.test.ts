/** The pages show code that type-checks, synthesizes, and is the code in the repository. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as api from '../../constructs/index.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { exampleApp } from './documented-example.ts';
import { readmeExample } from './readme-example.ts';
import { one, synthesized } from './synthesized.ts';

const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');

/** TypeScript of a page. */
const snippets = (file: string) => [...read(file).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
/** A source as a reader of a page would write it. */
const shown = (file: string) =>
  read(file)
    .replace(/^\/\*\*.*\n\n/, '')
    .replace("'../../constructs/index.ts'", "'rossoctl'");

/** The statements of a function, with what they import of ours: its parameters are the reader's own. */
function bodyShown(file: string): string {
  const ours = /^import .* from 'rossoctl';$/m.exec(shown(file))?.[0] ?? '';
  const body = /^export function .*\{\n([\s\S]*?)^\}$/m.exec(shown(file))?.[1] ?? '';
  return `${ours}\n\n${body.replaceAll(/^ {2}/gm, '')}`;
}

test('every TypeScript snippet of a page is code that is compiled and run here', () => {
  const known = [shown('test/constructs/documented-example.ts'), bodyShown('test/constructs/readme-example.ts')];
  const root = path.resolve(import.meta.dirname, '../..');
  const found = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).flatMap((file) =>
    snippets(file).map((code) => ({ file, code })),
  );
  assert.deepEqual(found.map(({ file }) => file).sort(), ['README.md', 'docs/constructs.md']);
  for (const { file, code } of found) {
    assert.ok(known.includes(code), `${file} shows other code than test/constructs/*-example.ts:\n${code}`);
  }
});

test('the README’s agent has the name of its construct', () => {
  const objects = synthesized(readmeExample);
  for (const kind of ['Service', 'AgentRuntime', 'ServiceAccount', 'Deployment']) {
    assert.equal(one(objects, kind, 'weather').metadata.namespace, 'team1');
  }
});

test('the example synthesizes', () => {
  const kinds = manifestsOf(exampleApp()).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'AgentRuntime').length, 3);
  assert.equal(kinds.filter((kind) => kind === 'AgentCard').length, 1);
});

test('docs/constructs.md names every public construct', () => {
  const page = read('docs/constructs.md');
  const constructs = Object.keys(api).filter((name) => name !== 'CustomResourceDefinitions');
  for (const name of constructs) assert.ok(page.includes(`\`${name}\``), name);
});
