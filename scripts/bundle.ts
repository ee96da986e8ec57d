/** Bundles the operator, or the sidecar, into one file that runs without `node_modules` (`npm run bundle`). */

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { parseCommandLine } from './command-line.ts';

const root = path.resolve(import.meta.dirname, '..');

const insideClient = /[/\\]@kubernetes[/\\]client-node[/\\]dist[/\\]/;

/**
 * The Kubernetes client is used for reading a kubeconfig only: without this its 2,700 generated models would be bundled. Its modules name each
 * other by file, so nothing has to be looked up; asking esbuild for each would take ten times as long as the bundle itself.
 */
const pureClient: Plugin = {
  name: 'pure-kubernetes-client',
  setup(context) {
    context.onResolve({ filter: /^\.{1,2}\// }, ({ path: name, importer, resolveDir }) => {
      if (!insideClient.test(importer) || name.includes('polyfill')) return undefined;
      return { path: path.join(resolveDir, name), sideEffects: false };
    });
  },
};

export interface Bundle {
  /** Absolute path of the bundled program. */
  readonly file: string;
  readonly bytes: number;
  /** Names of the npm packages whose code is in it, sorted. */
  readonly packages: readonly string[];
}

/** Bundles `entry` (relative to the repository) into `outFile`; deterministic for the same sources. */
export async function bundle(entry: string, outFile: string): Promise<Bundle> {
  mkdirSync(path.dirname(outFile), { recursive: true });
  const result = await build({
    entryPoints: [path.join(root, entry)],
    absWorkingDir: root,
    outfile: outFile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [pureClient],
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  });
  const packages = Object.keys(result.metafile.inputs).flatMap((input) => {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    return match?.[1] === undefined ? [] : [match[1]];
  });
  return { file: outFile, bytes: statSync(outFile).size, packages: [...new Set(packages)].sort() };
}

const usage = `usage: npm run bundle -- [--program operator|sidecar] [--out FILE]

  --program   which program (default operator)
  --out       the bundle (default dist/operator.mjs, or dist/sidecar.mjs)
`;

if (import.meta.main) {
  const { program, out } = parseCommandLine(usage, {
    program: { type: 'string', default: 'operator' },
    out: { type: 'string' },
  });
  if (program !== 'operator' && program !== 'sidecar') {
    process.stderr.write(`--program: ${JSON.stringify(program)} is neither operator nor sidecar\n\n${usage}`);
    process.exit(2);
  }
  const made = await bundle(`runtime/${program}/main.ts`, path.resolve(root, out ?? `dist/${program}.mjs`));
  process.stdout.write(
    `${path.relative(process.cwd(), made.file)}: ${(made.bytes / 1024).toFixed(0)} KiB, from ${made.packages.length} packages: ${made.packages.join(' ')}\n`,
  );
}
