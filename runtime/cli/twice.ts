/** Refuses input that no cluster can hold: one object in two documents. */

import { kinds } from '../api/kinds.ts';
import { groupOf } from '../api/target-ref.ts';
import { isRecord } from '../authbridge/record.ts';
import { CliError } from './cli-error.ts';
import type { Document } from './documents.ts';

/** How many places a message spells out. */
const spelledOut = 5;

/** Throws `CliError` with every place of the first object that the documents hold more than once. Who has no name yet is no other's double. */
export function refuseTwice(documents: readonly Document[], defaultNamespace: string): void {
  const places = new Map<string, { readonly title: string; readonly origins: string[] }>();
  for (const document of documents) {
    const identity = identityOf(document, defaultNamespace);
    if (identity === undefined) continue;
    const { key, title } = identity;
    const known = places.get(key) ?? { title, origins: [] };
    known.origins.push(document.origin);
    places.set(key, known);
  }
  for (const { title, origins } of places.values()) {
    if (origins.length === 1) continue;
    const more = origins.length - spelledOut;
    const all = [...origins.slice(0, spelledOut), ...(more > 0 ? [`${more} more`] : [])].join('; ');
    throw new CliError(
      `${title} is in the input ${origins.length} times: ${all}. A cluster holds it once; remove all but one`,
    );
  }
}

/** The version does not count: it is the same object in another form. */
function identityOf({ apiVersion, kind, object }: Document, defaultNamespace: string) {
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name, namespace } = metadata;
  if (typeof name !== 'string' || name === '') return undefined;
  const isNamespace = kind === kinds.namespace.kind && apiVersion === kinds.namespace.apiVersion;
  const place = typeof namespace === 'string' && namespace !== '' ? namespace : defaultNamespace;
  return {
    key: JSON.stringify([groupOf(apiVersion), kind, isNamespace ? '' : place, name]),
    title: isNamespace ? `${kind} ${name}` : `${kind} ${place}/${name}`,
  };
}
