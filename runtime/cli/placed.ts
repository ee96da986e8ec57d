/** Objects of the input with the namespace each is in, checked as far as their fields are read. */

import { kinds } from '../api/kinds.ts';
import { isRecord } from '../authbridge/record.ts';
import { metadataMalformation, workloadMalformation } from '../authbridge/shape.ts';
import type { KubeObject, ObjectMeta } from '../engine/types.ts';
import { CliError } from './cli-error.ts';
import type { Document } from './documents.ts';
import { subjectName } from './outcome.ts';

/** An object of the input with the namespace it is in. */
export interface Placed {
  readonly document: Document;
  readonly object: KubeObject;
  readonly namespace: string;
}

/** With its metadata of the types it is read as: of whatever kind it is, what the decision does with it relies on that. */
export function place(document: Document, defaultNamespace: string): Placed {
  const { origin, object, kind } = document;
  const { metadata } = object;
  if (!isRecord(metadata)) {
    throw new CliError(`${origin}: ${kind}: metadata ${metadata === undefined ? 'is missing' : 'must be a map'}`);
  }
  const isNamed = Boolean(metadata['name']) || Boolean(metadata['generateName']);
  const problem =
    metadataMalformation(metadata) ?? (isNamed || kind === kinds.pod.kind ? undefined : 'metadata.name is missing');
  if (problem !== undefined)
    throw new CliError(`${origin}: ${title(document, metadata, defaultNamespace)}: ${problem}`);
  const typed = object as unknown as KubeObject;
  return { document, object: typed, namespace: typed.metadata.namespace || defaultNamespace };
}

/** A workload with its fields of the types they are read as; its template is looked at when it is injected. */
export function placeWorkload(document: Document, defaultNamespace: string): Placed {
  const placed = place(document, defaultNamespace);
  const problem = workloadMalformation(document.object);
  if (problem === undefined) return placed;
  throw new CliError(`${document.origin}: ${title(document, placed.object.metadata, defaultNamespace)}: ${problem}`);
}

/** How messages name an object whose metadata may hold anything. */
function title(
  { kind, apiVersion }: Document,
  metadata: Readonly<Record<string, unknown>> | ObjectMeta,
  defaultNamespace: string,
): string {
  const { name, generateName, namespace } = metadata as Readonly<Record<string, unknown>>;
  const isNamespace = kind === kinds.namespace.kind && apiVersion === kinds.namespace.apiVersion;
  if (isNamespace) return `${kind} ${textOf(name) || '(no name)'}`;
  return subjectName(kind, textOf(namespace) || defaultNamespace, {
    name: textOf(name),
    generateName: textOf(generateName),
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
