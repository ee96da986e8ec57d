// Where the lab keeps its state, inside the project; what it builds once is in the cache folder (scripts/cache-dir.ts).
import { join, resolve } from 'node:path';

/** The name of the lab a command means when none is given. */
export const defaultLabName = 'default';

/** The project's root folder. */
export const projectDir = resolve(import.meta.dirname, '../..');

/** The folder of the committed Go modules. */
export const goModulesDir = join(import.meta.dirname, 'go');

/** The folder of one lab: state, certificates, logs and the cluster's files. */
export function labDir(name: string): string {
  return join(projectDir, '.lab', name);
}

/** The kubeconfig of one lab; the default lab's is `.lab/kubeconfig`. */
export function labKubeconfigPath(name: string): string {
  return name === defaultLabName ? join(projectDir, '.lab', 'kubeconfig') : join(labDir(name), 'kubeconfig');
}

/** The log of one component of one lab. */
export function labLogPath(name: string, component: string): string {
  return join(labDir(name), 'log', `${component}.log`);
}
