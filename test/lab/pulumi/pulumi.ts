// A Pulumi of one's own: its CLI, the Kubernetes provider and a state in a folder, without an account and without a download.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pulumiBinaries, pulumiKubernetesVersion } from '../binaries.ts';
import { ensureBinaries, pathOf } from '../build.ts';
import { reportToStderr } from '../progress.ts';

const host = path.join(import.meta.dirname, 'language-host.ts');

/** What a run of the CLI gave. */
export interface PulumiRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The CLI with a state of its own; runs end with this process at the latest. */
export interface Pulumi {
  /** `pulumi ARGUMENTS` in the project's folder, without questions and colours. */
  run(...parameters: readonly string[]): Promise<PulumiRun>;
  /** The same, killed when `signal` says so: nothing is ended in order. */
  runUntil(signal: AbortSignal, ...parameters: readonly string[]): Promise<PulumiRun>;
}

/** Where a program is, and where its state goes. */
export interface PulumiOptions {
  /** Folder with the `Pulumi.yaml`. */
  readonly project: string;
  /** A folder of one's own, which exists. */
  readonly dir: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Builds CLI and provider when they are not there yet, which takes a quarter of an hour. */
export async function preparePulumi({ project, dir, env = {} }: PulumiOptions): Promise<Pulumi> {
  const { program, environment } = await pulumiIn(dir);
  const how = { cwd: project, env: { ...environment, NO_COLOR: '1', ...env } };
  return {
    run: (...parameters) => runCli(program, parameters, how),
    runUntil: (signal, ...parameters) => runCli(program, parameters, { ...how, signal }),
  };
}

/** The CLI, and the environment in which it keeps everything below `dir`. */
export async function pulumiIn(dir: string) {
  const binaries = await ensureBinaries(pulumiBinaries, reportToStderr);
  const home = path.join(dir, 'pulumi-home');
  const bin = path.join(dir, 'pulumi-bin');
  const state = path.join(dir, 'pulumi-state');
  const provider = pathOf(binaries, 'pulumi-resource-kubernetes');
  // Under the SDK's own release too, for programs that do not say which they want: then the CLI warns and goes on.
  for (const release of [pulumiKubernetesVersion, sdkVersion()]) {
    const folder = path.join(home, 'plugins', `resource-kubernetes-v${release}`);
    mkdirSync(folder, { recursive: true });
    rmSync(path.join(folder, 'pulumi-resource-kubernetes'), { force: true });
    symlinkSync(provider, path.join(folder, 'pulumi-resource-kubernetes'));
  }
  for (const folder of [bin, state]) mkdirSync(folder, { recursive: true });
  const stub = path.join(bin, 'pulumi-language-nodejs');
  writeFileSync(stub, `#!/bin/sh\nexec '${process.execPath}' '${host}' "$@"\n`);
  chmodSync(stub, 0o755);
  const { PATH = '', HOME = '' } = process.env;
  const environment = {
    HOME,
    PATH: [bin, path.dirname(process.execPath), PATH].join(path.delimiter),
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: 'a test',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
  };
  return { program: pathOf(binaries, 'pulumi'), environment };
}

function sdkVersion(): string {
  const file = fileURLToPath(import.meta.resolve('@pulumi/kubernetes/package.json'));
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

interface How {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A CLI that is killed ends no plugin of its own, and none ends by itself. */
function killPlugins(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${home}/plugins/`))
        process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

function runCli(program: string, parameters: readonly string[], { signal, ...how }: How): Promise<PulumiRun> {
  const own = [program, ...parameters, '--non-interactive'];
  const [command, ...rest] =
    process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--', ...own] : (own as [string, ...string[]]);
  const child = spawn(command, rest, { ...how, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => {
    child.kill('SIGKILL');
    killPlugins(how.env['PULUMI_HOME'] ?? '');
  };
  signal?.addEventListener('abort', kill, { once: true });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, ...texts }));
  });
}

/** The release of the Kubernetes provider that is built here. */
export const providerVersion: string = pulumiKubernetesVersion;
