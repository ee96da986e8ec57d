/** Whether the kubeconfig knows the context of a stack: else a preview would plan against no cluster, and only `up` would fail. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { suggestion } from '../runtime/config/suggest.ts';

/**
 * Why there is no such context, with the ones there are; undefined when it is there, or when nothing can be said because no kubeconfig can be
 * read: a preview needs no cluster. `kubeconfig`: paths as in KUBECONFIG; default that variable, else ~/.kube/config.
 */
export function contextProblem(
  context: string | undefined,
  kubeconfig = process.env['KUBECONFIG'] || path.join(homedir(), '.kube', 'config'),
): string | undefined {
  if (context === undefined) return undefined;
  const files = kubeconfig.split(path.delimiter).filter((file) => file !== '');
  const found = files.map(contextsIn);
  const known = found.flatMap((names) => names ?? []);
  if (known.includes(context) || found.includes(undefined)) return undefined;
  const close = suggestion(context, known);
  const hint = close === undefined ? `there are ${known.join(', ') || 'none'}` : `did you mean ${close}?`;
  return `config.rossoctl:cluster.context: ${kubeconfig} has no context ${JSON.stringify(context)}: ${hint}`;
}

/** Undefined: the file cannot be read, or is none. */
function contextsIn(file: string): readonly string[] | undefined {
  try {
    const { contexts } = parse(readFileSync(file, 'utf8')) as {
      readonly contexts?: readonly { readonly name: string }[];
    };
    return (contexts ?? []).map(({ name }) => name);
  } catch {
    return undefined;
  }
}
