/** The pages of the examples: each example has one, the table names it, and no link is broken. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const examples = path.resolve(import.meta.dirname, '../../examples');
const linksOf = (page: string) =>
  [...readFileSync(path.join(examples, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => match[1] ?? []);

test('the table leads to every example', () => {
  const folders = globSync('*/', { cwd: examples }).filter((folder) => folder !== 'demo');
  const pages = folders.map((folder) => `${folder}/README.md`);
  assert.deepEqual(
    pages.filter((page) => !linksOf('README.md').includes(page)),
    [],
  );
});

test('no link of a page is broken', () => {
  const broken = globSync('**/README.md', { cwd: examples }).flatMap((page) =>
    linksOf(page)
      .filter((link) => !link.includes('://'))
      .filter((link) => !existsSync(path.join(examples, path.dirname(page), link.split('#')[0] ?? '')))
      .map((link) => `${page} links to ${link}`),
  );
  assert.deepEqual(broken, []);
});
