/** The reference pages: nothing that the sources offer is missing, and what has no text is refused by name. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { crdSources } from '../../../constructs/crds.ts';
import * as constructs from '../../../constructs/index.ts';
import { commands } from '../../../runtime/cli/main.ts';
import { gateDefaults } from '../../../runtime/config/feature-gates.ts';
import { compiledDefaults } from '../../../runtime/config/platform.ts';
import { options } from '../../../runtime/operator/options.ts';
import { constructsPage } from '../../../scripts/reference/constructs.ts';
import { customResourcesPage } from '../../../scripts/reference/custom-resources.ts';
import { type Declaration, declarationsOf, type Member } from '../../../scripts/reference/declarations.ts';
import { metrics } from '../../../scripts/reference/metrics.ts';
import { codeFiles, reading } from '../../../scripts/reference/program.ts';
import { fieldRows, type SchemaNode } from '../../../scripts/reference/schema-rows.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const page = (name: string) => readFileSync(path.join(root, `docs/reference/${name}.md`), 'utf8');

/** Read once: the compiler takes a second or two. */
const read = reading((sources) => ({
  declarations: declarationsOf(sources, 'constructs/index.ts'),
  metrics: metrics(sources),
}));

/** Words that no row of the page begins with. */
function absent(words: readonly string[], text: string): readonly string[] {
  return words.filter((word) => !text.includes(`| \`${word}`));
}

/** Dotted paths of every leaf. */
function leaves(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([key, child]): readonly string[] => {
    const isSection = typeof child === 'object' && child !== null && !Array.isArray(child);
    const isMap = key === 'requests' || key === 'limits';
    return isSection && !isMap ? leaves(child as object, `${prefix}${key}.`) : [`${prefix}${key}`];
  });
}

test('the settings page has every setting and feature gate', () => {
  assert.deepEqual(absent([...leaves(compiledDefaults), ...Object.keys(gateDefaults)], page('settings')), []);
});

test('the page of the custom resources has every field, with a text', () => {
  const fields = crdSources.flatMap(({ spec, status }) =>
    [...fieldRows(spec as SchemaNode, 'spec'), ...fieldRows(status as SchemaNode, 'status')].map((row) => row.path),
  );
  assert.ok(fields.length > 60);
  assert.deepEqual(absent(fields, page('custom-resources')), []);
});

test('a field without a description, and one without a word on what is taken for it, are refused by name', () => {
  const [source] = crdSources;
  assert.ok(source);
  const spoiled = (node: object) => [
    { ...source, spec: { type: 'object', properties: { odd: node } } as typeof source.spec },
  ];
  assert.throws(() => customResourcesPage(spoiled({ type: 'string' })), /AgentRuntime spec\.odd has no description/);
  assert.throws(
    () => customResourcesPage(spoiled({ type: 'string', description: 'Odd.' })),
    /AgentRuntime spec\.odd: .* does not say what is taken/,
  );
});

test('the page of command lines has every command, every option of the operator and every npm script that is a program', () => {
  const text = page('cli');
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const programs = Object.keys(scripts).filter((name) => /^node \S+\.ts$/.test(scripts[name] ?? ''));
  const headings = [...commands.map(({ name }) => `### ${name}\n`), ...programs.map((name) => `### npm run ${name}\n`)];
  assert.deepEqual(
    headings.filter((heading) => !text.includes(heading)),
    [],
  );
  assert.deepEqual(
    absent(
      Object.values(options).map(({ flag }) => `--${flag}`),
      text,
    ),
    [],
  );
});

test('every metric that the sources name is found, and is in its page', () => {
  const named = codeFiles('runtime').flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/\bname: '([a-z0-9]+_[a-z0-9_]+)'/g)].flatMap(
      (match) => match[1] ?? [],
    ),
  );
  assert.ok(named.length > 30);
  const found = read.metrics.map(({ name }) => name);
  assert.deepEqual(
    named.filter((name) => !found.includes(name)),
    [],
  );
  assert.deepEqual(absent(found, page('metrics')), []);
});

test('the page of the constructs has every class that is exported', () => {
  const text = page('constructs');
  assert.deepEqual(
    Object.keys(constructs).filter((name) => !text.includes(`\n### ${name}\n`)),
    [],
  );
});

test('declarations are read with text, type and default, without what is private or inherited from elsewhere', () => {
  const of = (name: string) => read.declarations.find((each) => each.name === name)?.members ?? [];
  const port = of('AgentProps').find(({ name }) => name === 'port');
  assert.deepEqual(
    [port?.type, port?.byDefault, port?.isOptional, port?.text],
    ['number', '8080', true, "Port the agent listens on; also the Service's port."],
  );
  assert.deepEqual(
    of('AgentNamespace').map(({ name, kind }) => [name, kind]),
    [
      ['__constructor', 'constructor'],
      ['name', 'property'],
    ],
  );
  assert.ok(of('AgentRuntime').some(({ name, kind }) => name === 'static fromName' && kind === 'method'));
});

test('exports, members and defaults without a docstring are refused, all by name', () => {
  const member: Member = {
    name: 'size',
    type: 'number',
    text: '',
    byDefault: undefined,
    isOptional: true,
    kind: 'property',
    isFromSchema: false,
  };
  const bare: Declaration = { name: 'OddProps', kind: 'interface', text: '', definition: undefined, members: [member] };
  const message = /OddProps has no text\s+OddProps\.size has no text\s+OddProps\.size has no @default/;
  assert.throws(() => constructsPage([], [bare]), message);
});
