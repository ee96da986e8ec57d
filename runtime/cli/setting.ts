/** Reads from the flags what the cluster is like, beside its objects. */

import { files, install } from '../api/names.ts';
import type { FileText } from '../config/layers-of.ts';
import { type Arguments, valueOf } from './arguments.ts';
import { CliError } from './cli-error.ts';
import type { Terminal } from './command.ts';
import { givenNamespace } from './input.ts';
import type { Setting } from './offline-snapshot.ts';
import { readInput } from './read-input.ts';

/** Throws `CliError` for a file that cannot be read or a version that is none. */
export async function settingOf(given: Arguments, terminal: Terminal): Promise<Setting> {
  const [configFile, gatesFile] = await Promise.all([
    mounted(valueOf(given, 'config'), files.config, terminal),
    mounted(valueOf(given, 'gates'), files.gates, terminal),
  ]);
  return {
    operatorNamespace: givenNamespace(given, 'operator-namespace') ?? install.namespace,
    csiDriver: !given.switches.has('no-csi-driver'),
    nativeSidecars: hasNativeSidecars(valueOf(given, 'server-version')),
    configFile,
    gatesFile,
  };
}

/** A file as the operator has it mounted; without the flag there is none. */
async function mounted(file: string | undefined, path: string, { stdin }: Terminal): Promise<FileText> {
  if (file === undefined) return { text: undefined, path };
  if (file === '-') throw new CliError('--config and --gates take files, not standard input');
  return { text: (await readInput(file, stdin)).text, path: file };
}

/** Kubernetes 1.29 and later; the default is a current cluster. */
function hasNativeSidecars(version: string | undefined): boolean {
  if (version === undefined) return true;
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) {
    throw new CliError(`--server-version must be like 1.31, not ${JSON.stringify(version)}`);
  }
  return Number(major) > 1 || Number(minor) >= 29;
}
