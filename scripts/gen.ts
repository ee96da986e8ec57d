/** Writes what is generated from the sources: CRD manifests, their cdk8s imports and the reference pages (`npm run gen`); `--check` only compares. */

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { crdManifest, crdSources } from '../constructs/crds.ts';
import { apiGroup } from '../runtime/api/names.ts';
import { erasableImport } from './erasable-import.ts';
import { parseCommandLine } from './command-line.ts';
import { referencePages } from './reference/pages.ts';

const root = path.resolve(import.meta.dirname, '..');
const banner = 'Generated from runtime/api by `npm run gen`; do not edit.';

/** Path relative to the repository → text. */
type Generated = ReadonlyMap<string, string>;

function crdFiles(): Generated {
  return new Map(
    crdSources.map((source) => [
      `docs/reference/crds/${apiGroup}_${source.facts.plural}.yaml`,
      `# ${banner}\n${stringify(crdManifest(source), { lineWidth: 0 })}`,
    ]),
  );
}

/** Runs `cdk8s import` on the CRDs, offline, in a folder of its own. */
async function importFiles(crds: Generated): Promise<Generated> {
  const cli = path.join(root, 'node_modules/cdk8s-cli/bin/cdk8s');
  const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-import-'));
  try {
    const input = path.join(work, 'crds.yaml');
    writeFileSync(input, [...crds.values()].join('---\n'));
    const options = ['--language', 'typescript', '--class-prefix', 'Kube', '--no-save', '--check-upgrade=false'];
    await promisify(execFile)(process.execPath, [cli, 'import', input, ...options, '--output', work], { cwd: work });
    const generated = readFileSync(path.join(work, `${apiGroup}.ts`), 'utf8');
    return new Map([[`imports/${apiGroup}.ts`, `/** ${banner} */\n\n${erasableImport(generated)}`]]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Every generated file of the repository. Deterministic: two runs give the same bytes. */
export async function generatedFiles(): Promise<Generated> {
  const crds = crdFiles();
  const [imports, pages] = await Promise.all([importFiles(crds), referencePages()]);
  return new Map([...crds, ...imports, ...pages]);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(path.join(root, file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

const usage = `usage: npm run gen -- [--check]

  --check   write nothing; exit 1 and name the files that are stale
`;

async function main(): Promise<void> {
  const values = parseCommandLine(usage, { check: { type: 'boolean' } });
  const files = await generatedFiles();
  const stale = [...files].filter(([file, text]) => readOrEmpty(file) !== text).map(([file]) => file);
  if (values.check) {
    for (const file of stale) process.stderr.write(`${file} is stale: run npm run gen and commit it\n`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  for (const file of stale) {
    const target = path.join(root, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, files.get(file) ?? '');
    process.stdout.write(`${file} written\n`);
  }
  process.stdout.write(`${files.size} generated files, ${stale.length} changed\n`);
}

if (import.meta.main) await main();
