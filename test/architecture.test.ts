/** Holds the import rules and the purity of files by their names (ARCHITECTURE.md, "Who may import whom"). */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const sources = globSync('{runtime,constructs,stacks,scripts,bin,examples}/**/*.ts', { cwd: root }).sort();

/** Features never import each other: they meet in the Kubernetes API. */
const features = [
  'agent-runtime',
  'authbridge',
  'validation',
  'agent-card',
  'agent-card-sync',
  'network-policy',
] as const;
const shared = [
  'runtime/api',
  'runtime/encoding',
  'runtime/config',
  'runtime/workload',
  'runtime/signature',
  'runtime/engine/types.ts',
];

/** Folder → what it may import besides itself. A prefix of the path decides; the longest matching row counts. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'runtime/encoding': [],
  'runtime/api': ['runtime/encoding', 'runtime/engine/types.ts'],
  'runtime/engine': ['runtime/encoding'],
  'runtime/signature': ['runtime/api', 'runtime/encoding'],
  'runtime/config': ['runtime/api', 'runtime/encoding', 'runtime/engine/types.ts'],
  'runtime/workload': ['runtime/api', 'runtime/encoding', 'runtime/engine/types.ts'],
  ...Object.fromEntries(features.map((feature) => [`runtime/${feature}`, shared])),
  'runtime/sidecar': [
    'imports/protocols.ts',
    'runtime/api',
    'runtime/encoding',
    'runtime/config',
    'runtime/signature',
    'runtime/engine',
  ],
  'runtime/cli': ['runtime'],
  'runtime/operator': ['runtime'],
  constructs: [
    'imports',
    'runtime/api',
    'runtime/config',
    'runtime/encoding',
    'runtime/engine/types.ts',
    'runtime/permissions.ts',
  ],
  stacks: ['constructs', 'imports', 'runtime/api', 'runtime/config', 'runtime/encoding', 'runtime/workload'],
  scripts: ['runtime', 'constructs', 'stacks'],
  examples: ['constructs', 'runtime', 'stacks', 'test/lab', 'test/support', 'scripts'],
  bin: ['runtime/cli'],
};

/** Only these names may do I/O, read the clock or the environment; everything else is values in, value out. */
const impure =
  /^runtime\/(engine|cli|operator)\/|\/(main|settings|controller|observe|gather|fetch|read|find|webhook|detect|bootstrap|keycloak)\.ts$|^runtime\/sidecar\/(.*\/)?(client|server|process|keeper|files|apply)\.ts$/;
const effects: readonly (readonly [string, RegExp])[] = [
  ['reads the clock', /\bDate\.now\(|new Date\(\)|performance\.now\(/],
  ['reads the environment', /\bprocess\.(env|argv)\b|'node:process'/],
  ['is random', /\bMath\.random\(|randomUUID\(|randomBytes\(|getRandomValues\(/],
  [
    'does I/O',
    /'node:(fs|net|http|http2|https|tls|dgram|child_process|worker_threads|dns|os|timers)[/'p]|'(undici|fastify|pino|prom-client|@kubernetes\/client-node)'|\bfetch\(/,
  ],
  ['waits', /\bset(Timeout|Interval|Immediate)\(/],
  ['logs', /\bconsole\.|process\.std(out|err)/],
];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports and re-exports at the start of a line, for their names or their effects alone, and dynamic imports. */
const importPattern = /^import '([^']+)'|^(?:import|export)\b[^;'=(]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm;

function imports(file: string): readonly Import[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  const specifiers = [...text.matchAll(importPattern)];
  return specifiers
    .map(specifier)
    .filter((to) => to.startsWith('.'))
    .map((to) => ({ from: file, to: path.relative(root, path.resolve(root, path.dirname(file), to)) }));
}

const specifier = (match: RegExpMatchArray) => match[1] ?? match[2] ?? match[3] ?? '';

const within = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`);

function rowOf(file: string): readonly [string, readonly string[]] | undefined {
  return Object.entries(allowed)
    .filter(([folder]) => within(file, folder))
    .sort(([a], [b]) => b.length - a.length)[0];
}

/** Constructs may read each feature's permissions: data, no behaviour. */
const isPermissions = (file: string) => /^runtime\/[^/]+\/permissions\.ts$/.test(file);

test('every file imports only what its folder may', () => {
  const wrong = sources.flatMap(imports).filter(({ from, to }) => {
    const row = rowOf(from);
    if (row === undefined) return true;
    const [folder, others] = row;
    return (
      !within(to, folder) &&
      !others.some((other) => within(to, other)) &&
      !(folder === 'constructs' && isPermissions(to))
    );
  });
  assert.deepEqual(wrong, []);
});

test('there are no import cycles', () => {
  const edges = new Map(sources.map((file) => [file, imports(file).map(({ to }) => to)]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  function visit(file: string, trail: readonly string[]): void {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'open');
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
    state.set(file, 'done');
  }
  for (const file of sources) visit(file, []);
  assert.deepEqual(cycles, []);
});

test('pure files do nothing but compute', () => {
  const wrong = sources
    .filter((file) => /^(runtime|constructs)\//.test(file) && !impure.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return effects.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${file} ${what}`);
    });
  assert.deepEqual(wrong, []);
});

test('each kind of broken rule is seen', () => {
  const seen = (text: string) => effects.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
  assert.deepEqual(seen("const { readFileSync } = await import('node:fs');"), ['does I/O']);
  assert.deepEqual(seen("import { env } from 'node:process';"), ['reads the environment']);
  assert.deepEqual(seen('const answer = await fetch(url);'), ['does I/O']);
  assert.deepEqual(seen('const at = Date.now();'), ['reads the clock']);
  assert.deepEqual(seen('export const pure = (a: number) => a + 1;'), []);
  const importsOf = (text: string) => [...text.matchAll(importPattern)].map(specifier);
  assert.deepEqual(importsOf("import '../validation/permissions.ts';"), ['../validation/permissions.ts']);
  assert.deepEqual(importsOf("import {\n  a,\n} from '../b.ts';"), ['../b.ts']);
  assert.deepEqual(importsOf("export { a } from './c.ts';"), ['./c.ts']);
  assert.deepEqual(importsOf("const d = await import('./d.ts');"), ['./d.ts']);
});

test('every source file opens with one sentence that says its responsibility', () => {
  const wrong = sources.filter((file) => {
    const text = readFileSync(path.join(root, file), 'utf8').replace(/^#!.*\n/, '');
    return !text.startsWith('/** ') || !/^\/\*\*[\s\S]{20,}?\*\//.test(text);
  });
  assert.deepEqual(wrong, []);
});

test('test files hold at least one assertion', () => {
  const wrong = globSync('test/**/*.test.ts', { cwd: root }).filter(
    (file) => !/\bassert\b|\bexpect\w*\(/.test(readFileSync(path.join(root, file), 'utf8')),
  );
  assert.deepEqual(wrong, []);
});
