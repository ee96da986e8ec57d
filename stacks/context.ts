/** Whether the kubeconfig and the context that a stack names are there: else a preview would plan against no cluster, and only `up` would fail. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { suggestion } from '../runtime/config/suggest.ts';

/** What a stack says of its cluster, of `rossoctl:cluster`. */
interface Named {
  readonly context?: string | undefined;
  /** Path of one file, which may begin with ~/. */
  readonly kubeconfig?: string | undefined;
}

const section = 'config.rossoctl:cluster';

/**
 * Why what is named cannot be used, with the next step: a kubeconfig that cannot be read, a context that it does not have. Undefined when it can,
 * and when nothing is known because the stack names no kubeconfig and that of the shell (`shell`: paths as in KUBECONFIG; default that
 * variable, else ~/.kube/config) cannot be read: a preview needs no cluster.
 */
export function clusterProblem(
  { context, kubeconfig }: Named,
  shell = process.env['KUBECONFIG'] || path.join(homedir(), '.kube', 'config'),
): string | undefined {
  if (kubeconfig === undefined) {
    const found = shell.split(path.delimiter).flatMap((file) => (file === '' ? [] : [contextsIn(file)]));
    const isKnown = found.every((each) => typeof each !== 'string');
    return isKnown ? contextProblem(context, shell, found.flat()) : undefined;
  }
  const found = contextsIn(path.resolve(kubeconfig.replace(/^~(?=\/|$)/, homedir())));
  if (typeof found !== 'string') return contextProblem(context, kubeconfig, found);
  return `${section}.kubeconfig: ${found}: write the path of a kubeconfig, or leave the key out for that of your shell`;
}

function contextProblem(context: string | undefined, where: string, known: readonly string[]): string | undefined {
  if (context === undefined || known.includes(context)) return undefined;
  const close = suggestion(context, known);
  const hint = close === undefined ? `there are ${known.join(', ') || 'none'}` : `did you mean ${close}?`;
  return `${section}.context: ${where} has no context ${JSON.stringify(context)}: ${hint}`;
}

/** Or why they cannot be known. */
function contextsIn(file: string): readonly string[] | string {
  try {
    const read = parse(readFileSync(file, 'utf8')) as Kubeconfig | string | null;
    if (typeof read === 'object' && read !== null) return (read.contexts ?? []).map(({ name }) => name);
    return `${file} is no kubeconfig`;
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    return `${file} ${unreadable[code] ?? 'is no kubeconfig'}`;
  }
}

interface Kubeconfig {
  readonly contexts?: readonly { readonly name: string }[] | null;
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read',
};
