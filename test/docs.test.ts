/** Documentation that can drift is held against the sources: every setting, gate, condition, refusal, label and npm script is documented. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agentRuntimeReasons } from '../runtime/api/conditions.ts';
import { annotations, labels } from '../runtime/api/names.ts';
import { gateDefaults } from '../runtime/config/feature-gates.ts';
import { compiledDefaults } from '../runtime/config/platform.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const missing = (words: readonly string[], text: string) => words.filter((word) => !text.includes(word));

/** Dotted paths of every leaf; maps of quantities count as one. */
function leaves(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([key, child]): readonly string[] => {
    const at = `${prefix}${key}`;
    const isSection = typeof child === 'object' && child !== null && !Array.isArray(child);
    return isSection && prefix !== 'resources.' ? leaves(child as object, `${at}.`) : [at];
  });
}

test('every setting and feature gate is in the configuration page', () => {
  const page = read('docs/configuration.md');
  assert.deepEqual(
    missing(
      [...leaves(compiledDefaults), ...Object.keys(gateDefaults)].map((name) => `\`${name}`),
      page,
    ),
    [],
  );
});

test('every condition and reason is in the troubleshooting page', () => {
  const page = read('docs/troubleshooting.md');
  const words = Object.entries(agentRuntimeReasons).flatMap(([type, reasons]) => [type, ...reasons]);
  assert.deepEqual(missing(words, page), []);
});

test('every reason of an injection decision is in the troubleshooting page', () => {
  const source = read('runtime/authbridge/snapshot.ts');
  const union = /export type Reason =([^;]+);/.exec(source)?.[1] ?? '';
  const reasons = [...union.matchAll(/'(\w+)'/g)].flatMap((match) => match[1] ?? []);
  assert.ok(reasons.length > 10);
  assert.deepEqual(
    missing(
      reasons.filter((reason) => reason !== 'Injected'),
      read('docs/troubleshooting.md'),
    ),
    [],
  );
});

test('every label and annotation that users see is documented', () => {
  const words = [...Object.values(labels), ...Object.values(annotations)];
  const pages = ['configuration', 'troubleshooting', 'agent-cards', 'identity-binding', 'network-policies'];
  assert.deepEqual(missing(words, pages.map((page) => read(`docs/${page}.md`)).join('\n')), []);
});

test('the README names only npm scripts and files that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const text = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'].map(read).join('\n');
  const used = [...text.matchAll(/npm run ([a-z:]+)/g)].flatMap((match) => match[1] ?? []);
  assert.deepEqual(
    used.filter((name) => scripts[name] === undefined),
    [],
  );
  const links = [...read('README.md').matchAll(/\]\(([^)#:]+)\)/g)].flatMap((match) => match[1] ?? []);
  for (const link of links) assert.ok(readable(link), `README links to ${link}`);
});

function readable(link: string): boolean {
  try {
    return link.endsWith('decisions') || read(link).length > 0;
  } catch {
    return false;
  }
}
