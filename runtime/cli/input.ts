/** The input of an offline command: the flags that name it, and the documents in it. */

import { install } from '../api/names.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';
import { CliError } from './cli-error.ts';
import type { Terminal } from './command.ts';
import { type Document, documentsOf } from './documents.ts';
import { readInput } from './read-input.ts';

/** Files, and what the cluster they stand for is like. */
export const inputFlags: readonly Flag[] = Object.freeze([
  {
    name: 'filename',
    short: 'f',
    value: 'FILE',
    multiple: true,
    help: 'input; - is standard input; more files may follow',
  },
  { name: 'namespace', short: 'n', value: 'NAME', help: 'namespace of objects that state none (default: default)' },
  { name: 'operator-namespace', value: 'NAME', help: `namespace of the operator (default: ${install.namespace})` },
  { name: 'config', value: 'FILE', help: "the operator's mounted config.yaml" },
  { name: 'gates', value: 'FILE', help: "the operator's mounted feature-gates.yaml" },
]);

/** Every document of the files named. Throws `CliError` when there is none, or one cannot be read. */
export async function inputDocuments(given: Arguments, terminal: Terminal): Promise<readonly Document[]> {
  const documents = documentsOf(await readAll(inputFiles(given), terminal));
  if (documents.length === 0) throw new CliError('the input holds no documents');
  return documents;
}

function inputFiles({ values, positionals }: Arguments): readonly string[] {
  const named = values.get('filename') ?? [];
  if (named.length === 0) throw new CliError('name the input with -f FILE, or -f - for standard input');
  const all = [...named, ...positionals];
  if (all.filter((file) => file === '-').length > 1) throw new CliError('standard input can be read once only');
  return all;
}

async function readAll(names: readonly string[], { stdin }: Terminal) {
  return Promise.all(names.map((name) => readInput(name, stdin)));
}

/** Namespace of objects that state none. Throws `CliError` for a name that no namespace can have. */
export function namespaceOf(given: Arguments): string {
  return givenNamespace(given) ?? 'default';
}

/** The value of a flag that names a namespace. Throws `CliError` for a name that no namespace can have. */
export function givenNamespace(given: Arguments, flag = 'namespace'): string | undefined {
  const namespace = valueOf(given, flag);
  if (namespace === undefined || /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) return namespace;
  throw new CliError(
    `--${flag}: ${JSON.stringify(namespace)} is no name of a namespace: lower-case letters, digits and dashes`,
  );
}
