/** How commands that need a cluster reach it. */

import { homedir } from 'node:os';
import path from 'node:path';
import type { Connection } from '../engine/kubeconfig.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';
import { CliError } from './cli-error.ts';

export const clusterFlags: readonly Flag[] = [
  { name: 'context', value: 'NAME', help: 'context of the kubeconfig (default: its current one)' },
  { name: 'kubeconfig', value: 'FILE', help: 'default: the first file of KUBECONFIG, else ~/.kube/config' },
];

/** Throws `CliError` that names a kubeconfig which cannot be used, and what to pass instead. */
export async function connectionOf(given: Arguments): Promise<Connection> {
  const [{ systemClock }, { InvalidKubeconfig }, { kubeconfigConnection }] = await Promise.all([
    import('../engine/clock.ts'),
    import('../engine/errors.ts'),
    import('../engine/kubeconfig.ts'),
  ]);
  const file = { path: kubeconfigPath(given), context: valueOf(given, 'context') };
  try {
    return await kubeconfigConnection(file, systemClock);
  } catch (error) {
    if (error instanceof InvalidKubeconfig) throw new CliError(`the cluster cannot be read: ${error.message}`);
    throw error;
  }
}

function kubeconfigPath(given: Arguments): string {
  const [first] = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((each) => each !== '');
  return valueOf(given, 'kubeconfig') ?? first ?? path.join(homedir(), '.kube', 'config');
}
