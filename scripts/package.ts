/** Makes the npm package: the public API as compiled JavaScript with its declarations, the command line, and a tarball (`npm run package`). */

import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseCommandLine } from './command-line.ts';
import { type CheckoutManifest, importedPackages, packageManifest } from './package-manifest.ts';

const root = path.resolve(import.meta.dirname, '..');

/** What was made. */
export interface Package {
  /** The folder: what a consumer finds in `node_modules/rossoctl`. */
  readonly folder: string;
  /** The same, as `npm install` takes it. */
  readonly tarball: string;
  /** Its `package.json`. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** Makes `<out>/package`, which is emptied first, and `<out>/rossoctl-<version>.tgz`. Throws what the compiler says. */
export function makePackage(out: string): Package {
  const folder = path.join(out, 'package');
  rmSync(folder, { recursive: true, force: true });
  compile(folder);
  const checkout = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as CheckoutManifest;
  const code = globSync('**/*.{js,d.ts}', { cwd: folder }).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  const manifest = packageManifest(checkout, importedPackages(code));
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  mkdirSync(path.join(folder, 'bin'));
  copyFileSync(path.join(root, 'scripts/package-bin.js'), path.join(folder, 'bin/rossoctl.js'));
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md'])
    copyFileSync(path.join(root, file), path.join(folder, file));
  const [packed = ''] = npm('pack', folder, '--pack-destination', out, '--ignore-scripts', '--silent').split('\n');
  return { folder, tarball: path.join(out, packed), manifest };
}

function compile(outDir: string): void {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', path.join(root, 'tsconfig.package.json'), '--outDir', outDir];
  try {
    execFileSync(process.execPath, args, { encoding: 'utf8' });
  } catch (error) {
    throw new Error(`the package does not compile:\n${(error as { readonly stdout?: string }).stdout ?? ''}`, {
      cause: error,
    });
  }
}

function npm(...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
}

const usage = `usage: npm run package -- [--out DIR]

  --out DIR   where to write the folder package/ and the tarball (default dist)
`;

if (import.meta.main) {
  const { out } = parseCommandLine(usage, { out: { type: 'string', default: path.join(root, 'dist') } });
  const { tarball, manifest } = makePackage(path.resolve(out));
  const dependencies = Object.keys(manifest['dependencies'] as object).join(' ');
  process.stdout.write(`${path.relative(process.cwd(), tarball)}: depends on ${dependencies}\n`);
}
