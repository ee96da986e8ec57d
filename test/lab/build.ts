// Builds the lab's binaries once into the cache folder and returns where they are.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Binary, type BinaryName, binaries, buildFlags, cacheKey, hasC, moduleFiles } from './binaries.ts';
import { exclusively } from './exclusive.ts';
import { LabError } from './lab-error.ts';
import { cacheDir } from '../../scripts/cache-dir.ts';
import { prepareSource } from './prepared-source.ts';
import { type Report, secondsSince } from './progress.ts';
import { runCommand } from './run-command.ts';

const reminderMs = 30_000;

/** Absolute paths of built binaries by name. */
export type BinaryPaths = ReadonlyMap<BinaryName, string>;

/** Makes sure the named binaries are built; builds what is missing, one process at a time, each under a
 * temporary name that is renamed when complete. Takes minutes the first time and milliseconds afterwards. */
export async function ensureBinaries(names: readonly BinaryName[], report: Report): Promise<BinaryPaths> {
  const goVersion = await readGoVersion();
  const paths = new Map<BinaryName, string>();
  for (const binary of binaries.filter(({ name }) => names.includes(name))) {
    const path = binaryPath(binary, goVersion);
    if (!existsSync(path)) await buildBinary(binary, path, report);
    paths.set(binary.name, path);
  }
  return paths;
}

/** The path of one binary among those that were ensured. */
export function pathOf(paths: BinaryPaths, name: BinaryName): string {
  const path = paths.get(name);
  if (path === undefined) throw new Error(`${name} was not asked for`);
  return path;
}

async function readGoVersion(): Promise<string> {
  try {
    return (await runCommand('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH'])).trim().split('\n').join(' ');
  } catch (cause) {
    throw new LabError('The lab builds Kubernetes from source and needs Go 1.26 or newer on the PATH.', { cause });
  }
}

function binaryPath(binary: Binary, goVersion: string): string {
  const key = cacheKey(moduleFiles(binary.module), goVersion, buildFlags(binary.module));
  return join(cacheDir(), `${binary.module}-${key}`, binary.name);
}

async function buildBinary(binary: Binary, path: string, report: Report): Promise<void> {
  const onWait = (): void => report(`  waiting for another process that builds the lab's ${binary.module}`);
  await exclusively(`build ${join(path, '..')}`, onWait, async () => {
    if (existsSync(path)) return;
    const startMs = performance.now();
    report(`  building ${binary.name} …`);
    const reminder = setInterval(() => report(`  building ${binary.name} … ${secondsSince(startMs)}`), reminderMs);
    try {
      mkdirSync(join(path, '..'), { recursive: true });
      const sourceDir = await prepareSource(binary.module, join(path, '..', 'source'));
      await runCommand('go', ['build', ...buildFlags(binary.module), '-o', `${path}.partial`, binary.package], {
        cwd: sourceDir,
        env: { CGO_ENABLED: hasC(binary.module) ? '1' : '0' },
      });
    } finally {
      clearInterval(reminder);
    }
    renameSync(`${path}.partial`, path);
    report(`  built ${binary.name} in ${secondsSince(startMs)}`);
  });
}
