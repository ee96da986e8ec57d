/** Where a kind lives under the API server's URL. */

import type { Kind, ObjectKey } from './types.ts';

/** Path of a collection: of one namespace, or of the whole cluster without one. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.apiVersion.includes('/') ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
  const scope = kind.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${kind.plural}`;
}

/** Path of one object. A namespaced kind without a namespace is a mistake of the caller's and throws. */
export function objectPath(kind: Kind, { namespace, name }: ObjectKey): string {
  if (kind.namespaced && namespace === undefined) throw new Error(`${kind.kind} ${name} needs a namespace`);
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** A key as text: `namespace/name`, or `name` alone in the cluster's scope. Neither part can hold a slash. */
export function keyText({ namespace, name }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function keyOfText(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
