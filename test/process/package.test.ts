/** The npm package as a consumer has it: unpacked from its tarball in a folder outside of the checkout, beside the packages it asks for. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { makePackage } from '../../scripts/package.ts';
import { manifestsOf, streamOf } from '../../stacks/tree.ts';
import { exampleApp } from '../constructs/documented-example.ts';

const root = path.resolve(import.meta.dirname, '../..');
const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-package-'));
after(() => rmSync(work, { recursive: true, force: true }));

const made = makePackage(path.join(work, 'made'));
const names = (section: string) => Object.keys((made.manifest[section] ?? {}) as object);

/** A folder of a consumer: the tarball, and symbolic links to what it asks for. */
function consumer(name: string, packages = [...names('dependencies'), ...names('peerDependencies')]): string {
  const folder = path.join(work, name);
  const modules = path.join(folder, 'node_modules');
  for (const each of packages) {
    const link = path.join(modules, each);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', each), link);
  }
  execFileSync('tar', ['-xzf', made.tarball, '-C', modules]);
  renameSync(path.join(modules, 'package'), path.join(modules, 'rossoctl'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}\n');
  return folder;
}

const run = (folder: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

interface Versioned {
  readonly version: string;
}

/** The app of docs/constructs.md, as a reader has it. */
const example = readFileSync(path.join(root, 'test/constructs/documented-example.ts'), 'utf8').replace(
  "'../../constructs/index.ts'",
  "'rossoctl'",
);

test('an app outside of the checkout synthesizes to the same bytes as in it, with one copy of cdk8s and constructs', () => {
  const folder = consumer('synthesis');
  writeFileSync(path.join(folder, 'example.ts'), example);
  writeFileSync(
    path.join(folder, 'main.ts'),
    `import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { AgentRuntime } from 'rossoctl';
import { manifestsOf, streamOf } from 'rossoctl/stacks/tree';
import { exampleApp } from './example.ts';
const app = exampleApp();
const runtimes = app.node.findAll().filter((each) => each instanceof AgentRuntime);
if (runtimes.length === 0) throw new Error('another AgentRuntime');
for (const { apiObject } of runtimes) if (!(apiObject instanceof ApiObject)) throw new Error('another cdk8s');
for (const each of runtimes) if (!(each instanceof Construct)) throw new Error('another constructs');
process.stdout.write(streamOf(manifestsOf(app)));
`,
  );
  const { status, stdout, stderr } = run(folder, 'main.ts');
  assert.equal(status, 0, stderr);
  assert.equal(stdout, streamOf(manifestsOf(exampleApp())));
  assert.deepEqual(globSync('node_modules/rossoctl/**/node_modules', { cwd: folder }), []);
});

/**
 * A compiler, how the consumer uses it, and whether declarations are checked too, which takes 5.9 most of a minute. That one comes with the
 * tools around cdk8s, whose own templates say `commonjs`.
 */
const compilers = [
  { name: 'typescript', type: 'module', module: 'nodenext', skipLibCheck: false },
  { name: 'typescript', type: 'commonjs', module: 'nodenext', skipLibCheck: true },
  { name: 'jsii/node_modules/typescript', type: 'module', module: 'nodenext', skipLibCheck: true },
  { name: 'jsii/node_modules/typescript', type: 'commonjs', module: 'commonjs', skipLibCheck: true },
] as const;
const correct = `import { App, Chart } from 'cdk8s';
import { Agent } from 'rossoctl';
import { buildApp } from 'rossoctl/stacks/app';
import { parseSettings } from 'rossoctl/stacks/settings';
const chart = new Chart(new App(), 'chart');
// @ts-expect-error A text is no port.
new Agent(chart, 'a', { image: 'registry.example/a:1', port: '8080' });
// @ts-expect-error Read-only.
new Agent(chart, 'b', { image: 'registry.example/b:1' }).runtime.name = 'c';
buildApp(parseSettings('', 'here', { environment: 'x', image: 'registry.example/r:1' }));
`;

for (const { name, type, module, skipLibCheck } of compilers) {
  const compiler = path.join(root, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(path.join(compiler, 'package.json'), 'utf8')) as Versioned;
  test(`the types compile strictly under TypeScript ${version}, a ${type} with module ${module}`, () => {
    const folder = consumer(`types-${version}-${type}-${module}`);
    const files = { 'example.ts': example, 'more.ts': correct, 'package.json': JSON.stringify({ type }) };
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
    const options = {
      module,
      target: 'es2022',
      strict: true,
      noEmit: true,
      skipLibCheck,
      types: [],
    };
    const config = { compilerOptions: options, files: ['example.ts', 'more.ts'] };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { status, stdout } = run(folder, path.join(compiler, 'bin/tsc'), '-p', '.');
    assert.equal(stdout, '');
    assert.equal(status, 0);
  });
}

test('constructs use nothing that Node 20 does not have', () => {
  const config = {
    extends: path.join(root, 'tsconfig.package.json'),
    compilerOptions: {
      noEmit: true,
      rootDir: root,
      lib: ['es2023', 'es2024.string'],
      typeRoots: [path.join(root, 'node_modules/@types')],
    },
    files: ['constructs/index.ts', 'stacks/app.ts', 'stacks/settings.ts'].map((file) => path.join(root, file)),
  };
  writeFileSync(path.join(work, 'node20.json'), JSON.stringify(config));
  const { stdout } = run(work, path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'node20.json');
  assert.equal(stdout, '');
});

test('CommonJS requires it too', () => {
  const folder = consumer('commonjs');
  const { status, stdout, stderr } = run(folder, '-p', "Object.keys(require('rossoctl')).includes('AgentPlatform')");
  assert.equal(status, 0, stderr);
  assert.equal(stdout, 'true\n');
});

test('everything that is exported can be imported', () => {
  const folder = consumer('exports');
  const paths = Object.keys(made.manifest['exports'] as object).filter((name) => !name.endsWith('.json'));
  const code = paths.map((name) => `import ${JSON.stringify(path.posix.join('rossoctl', name))};`).join('\n');
  const { status, stderr } = run(folder, '--input-type=module', '-e', code);
  assert.equal(status, 0, stderr);
});

test('without Pulumi and cdk8s-plus, which are optional, constructs and settings still work', () => {
  const optional = names('peerDependenciesMeta');
  const needed = [...names('dependencies'), ...names('peerDependencies')].filter((name) => !optional.includes(name));
  const folder = consumer('optional', needed);
  const code = `import { Agent } from 'rossoctl'; import { treeOf } from 'rossoctl/stacks/tree'; process.stdout.write(typeof Agent + typeof treeOf)`;
  assert.equal(run(folder, '--input-type=module', '-e', code).stdout, 'functionfunction');
  const { stderr } = run(folder, '--input-type=module', '-e', "import 'rossoctl/stacks/kubernetes-app'");
  assert.match(stderr, /Cannot find package '@pulumi\/pulumi'/);
});

test('the command line starts and says its version', () => {
  const folder = consumer('command');
  const bin = path.join(
    folder,
    'node_modules/rossoctl',
    (made.manifest['bin'] as { readonly rossoctl: string }).rossoctl,
  );
  const { status, stdout, stderr } = run(folder, bin, '--version');
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), made.manifest['version']);
  writeFileSync(path.join(folder, 'pod.yaml'), 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n');
  const incomplete = run(folder, bin, 'inject', '-f', 'pod.yaml', '--explain');
  assert.match(incomplete.stderr, /pod\.yaml, document 1 \(line 1\): Pod default\/a: spec\.containers is missing/);
  assert.equal(incomplete.status, 2);
});

test('the package holds code, declarations and its licence, and no source, test or path of this machine', () => {
  const files = globSync('**/*', { cwd: made.folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const listed = files.map((entry) => path.relative(made.folder, path.join(entry.parentPath, entry.name)));
  assert.ok(listed.includes('LICENSE'));
  const strange = listed.filter(
    (file) => !/\.(js|d\.ts|md)$|^(LICENSE|package\.json)$/.test(file) || /(^|\/)test\//.test(file),
  );
  assert.deepEqual(strange, []);
  const naming = listed.filter((file) => readFileSync(path.join(made.folder, file), 'utf8').includes(root));
  assert.deepEqual(naming, []);
  assert.deepEqual(
    names('dependencies').filter((name) => names('peerDependencies').includes(name)),
    [],
  );
});
