/** `npm run synth`: writes the manifests of one environment as a tree of YAML, or prints them. */

import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildApp } from './app.ts';
import { environments, readPlatformFacts, readSettings } from './environments.ts';
import { gitOpsFiles } from './gitops/files.ts';
import { gitOpsOf, gitOpsTools, UsageError } from './gitops/flags.ts';
import { identitiesOf, manifestsOf, streamOf, treeOf } from './tree.ts';
import { writeTree } from './write-tree.ts';

const root = path.resolve(import.meta.dirname, '..');

const usage = () => `usage: npm run synth -- [--env ENV] [--out DIR | --stdout] [--image REF]

  --env ENV     environment, from stacks/Pulumi.ENV.yaml: ${environments().join(', ')} (default local)
  --out DIR     folder to write (default dist/manifests/ENV); files of an earlier run are removed from it,
                and one that holds another environment's is refused
  --stdout      print one YAML stream, in the order to apply, and write nothing
  --identities  with --stdout: of each object only its kind and name, with which a field manager gives up what it owns
                (docs/pulumi.md says when)
  --image REF   image of the operator, instead of the one in the settings

Apply with: kubectl apply --server-side -R -f DIR     (or: kubectl apply --server-side -k DIR)

For a GitOps tool DIR holds the tree in manifests/, and what the tool is given in a folder named by it:

  --gitops TOOL     ${gitOpsTools.join(' or ')}; may be given for both
  --repo URL        the repository that DIR is committed to
  --path PATH       where DIR is in the repository, . for its root
  --revision REF    branch, refs/tags/NAME or commit (default main)
  --secret NAME     Secret in Flux's namespace with the credentials of the repository (default none)
`;

/** Exit code: 0 done, 1 refused, 2 usage. */
function main(argv: readonly string[]): number {
  const { values, tokens } = parseArgs({
    args: [...argv],
    tokens: true,
    options: {
      env: { type: 'string', default: 'local' },
      out: { type: 'string' },
      image: { type: 'string' },
      stdout: { type: 'boolean', default: false },
      identities: { type: 'boolean', default: false },
      gitops: { type: 'string', multiple: true },
      repo: { type: 'string' },
      path: { type: 'string' },
      revision: { type: 'string' },
      secret: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage());
    return 0;
  }
  refuseRepeated(tokens.flatMap((token) => (token.kind === 'option' ? token.name : [])));
  const pointless = (['out', 'gitops'] as const).find((flag) => values[flag] !== undefined);
  if (values.stdout && pointless !== undefined) {
    throw new UsageError(`--stdout writes no folder: leave out --${pointless}`);
  }
  if (values.identities && !values.stdout) throw new UsageError('--identities is only printed: add --stdout');
  const wanted = gitOpsOf(values.env, values);
  const settings = readSettings(values.env, { image: values.image });
  if (values.image !== undefined && !('platform' in settings)) {
    throw new UsageError(
      `--image is the operator's, and ${values.env} is a layer of agents: set theirs in its settings`,
    );
  }
  const manifests = manifestsOf(buildApp(settings, readPlatformFacts(settings)));
  if (values.stdout) {
    process.stdout.write(streamOf(values.identities ? identitiesOf(manifests) : manifests));
    process.stderr.write(`${values.env}: ${manifests.length} objects\n`);
    return 0;
  }
  const out = values.out === undefined ? path.join(root, 'dist/manifests', values.env) : path.resolve(values.out);
  const { changed, removed } = writeTree(
    out,
    wanted === undefined ? treeOf(manifests) : gitOpsFiles(manifests, wanted),
    values.env,
  );
  const where = path.relative(process.cwd(), out) || '.';
  process.stderr.write(
    `${values.env}: ${manifests.length} objects in ${where} (${changed} files changed, ${removed} removed)\n`,
  );
  return 0;
}

/** All but --gitops say one thing. */
function refuseRepeated(names: readonly string[]): void {
  const twice = names.find((name, index) => name !== 'gitops' && names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice: say it once`);
}

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
