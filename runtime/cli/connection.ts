/** How commands that need a cluster reach it. */

import { homedir } from 'node:os';
import path from 'node:path';
import type { Connection } from '../engine/kubeconfig.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';

export const clusterFlags: readonly Flag[] = [
  { name: 'context', value: 'NAME', help: 'context of the kubeconfig (default: its current one)' },
  { name: 'kubeconfig', value: 'FILE', help: 'default: the first file of KUBECONFIG, else ~/.kube/config' },
];

/** Throws what reading the kubeconfig throws, with the file's name. */
export async function connectionOf(given: Arguments): Promise<Connection> {
  const [{ systemClock }, { kubeconfigConnection }] = await Promise.all([
    import('../engine/clock.ts'),
    import('../engine/kubeconfig.ts'),
  ]);
  return kubeconfigConnection({ path: kubeconfigPath(given), context: valueOf(given, 'context') }, systemClock);
}

function kubeconfigPath(given: Arguments): string {
  const [first] = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((each) => each !== '');
  return valueOf(given, 'kubeconfig') ?? first ?? path.join(homedir(), '.kube', 'config');
}
