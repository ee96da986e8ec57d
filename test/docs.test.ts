/** Documentation that can drift is held against the sources: every condition, label and npm script is documented, and no link is broken. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agentRuntimeReasons } from '../runtime/api/conditions.ts';
import { annotations, labels } from '../runtime/api/names.ts';
import { compiledDefaults } from '../runtime/config/platform.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const missing = (words: readonly string[], text: string) => words.filter((word) => !text.includes(word));

test('every section of the configuration is in the configuration page', () => {
  const sections = Object.keys(compiledDefaults).map((name) => `\`${name}`);
  assert.deepEqual(missing(sections, read('docs/configuration.md')), []);
});

test('every condition of an AgentRuntime is in the troubleshooting page', () => {
  assert.deepEqual(missing(Object.keys(agentRuntimeReasons), read('docs/troubleshooting.md')), []);
});

test('every label and annotation that users see is documented', () => {
  const words = [...Object.values(labels), ...Object.values(annotations)];
  const pages = ['configuration', 'troubleshooting', 'agent-cards', 'identity-binding', 'network-policies'];
  assert.deepEqual(missing(words, pages.map((page) => read(`docs/${page}.md`)).join('\n')), []);
});

test('the README names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const text = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'].map(read).join('\n');
  const used = [...text.matchAll(/npm run ([a-z:]+)/g)].flatMap((match) => match[1] ?? []);
  assert.deepEqual(
    used.filter((name) => scripts[name] === undefined),
    [],
  );
});

test('every link between pages leads to a file, and to a heading of it', () => {
  const broken = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .flatMap((match) => match[1] ?? [])
      .filter((link) => !link.includes('://') && !isThere(page, link))
      .map((link) => `${page} links to ${link}`),
  );
  assert.deepEqual(broken, []);
});

function isThere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!existsSync(path.join(root, target))) return false;
  return heading === undefined || headings(read(target)).includes(heading);
}

/** The names by which a page's headings are linked to. */
function headings(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
