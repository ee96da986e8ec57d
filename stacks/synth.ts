/** `npm run synth`: writes the manifests of one environment as a tree of YAML, or prints them. */

import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildApp } from './app.ts';
import { environments, readSettings } from './environments.ts';
import { manifestsOf, streamOf, treeOf } from './tree.ts';
import { writeTree } from './write-tree.ts';

const root = path.resolve(import.meta.dirname, '..');

const usage = () => `usage: npm run synth -- [--env ENV] [--out DIR | --stdout] [--image REF]

  --env ENV     environment, from stacks/Pulumi.ENV.yaml: ${environments().join(', ')} (default local)
  --out DIR     folder to write (default dist/manifests/ENV); files of an earlier run are removed from it
  --stdout      print one YAML stream, in the order to apply, and write nothing
  --image REF   image of the operator, instead of the one in the settings

Apply with: kubectl apply --server-side -R -f DIR     (or: kubectl apply --server-side -k DIR)
`;

/** Exit code: 0 done, 1 refused, 2 usage. */
function main(argv: readonly string[]): number {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      env: { type: 'string', default: 'local' },
      out: { type: 'string' },
      image: { type: 'string' },
      stdout: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage());
    return 0;
  }
  if (values.stdout && values.out !== undefined) throw new UsageError('--stdout writes no folder: leave out --out');
  const manifests = manifestsOf(buildApp(readSettings(values.env, { image: values.image })));
  if (values.stdout) {
    process.stdout.write(streamOf(manifests));
    process.stderr.write(`${values.env}: ${manifests.length} objects\n`);
    return 0;
  }
  const out = values.out === undefined ? path.join(root, 'dist/manifests', values.env) : path.resolve(values.out);
  const { changed, removed } = writeTree(out, treeOf(manifests));
  const where = path.relative(process.cwd(), out) || '.';
  process.stderr.write(
    `${values.env}: ${manifests.length} objects in ${where} (${changed} files changed, ${removed} removed)\n`,
  );
  return 0;
}

class UsageError extends Error {}

/** `parseArgs` reports a bad flag as a TypeError with this kind of code. */
function isUsage(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return error instanceof UsageError || (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'));
}

if (import.meta.main) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`synth: ${error instanceof Error ? error.message : String(error)}\n`);
    if (isUsage(error)) process.stderr.write(usage());
    process.exitCode = isUsage(error) ? 2 : 1;
  }
}
