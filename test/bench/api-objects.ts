/** Any synthesized object → the `Kind` by which the client writes it. */

import type { Client } from '../../runtime/engine/client.ts';
import type { Fragment, Kind, KubeObject } from '../../runtime/engine/types.ts';

/** Plurals follow English in every kind that is installed. */
export function kindOf({ apiVersion, kind, metadata }: KubeObject): Kind {
  const word = kind.toLowerCase();
  const plural = word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
  return { apiVersion, kind, plural, namespaced: metadata.namespace !== undefined };
}

export async function applyObject(client: Client, object: KubeObject): Promise<KubeObject> {
  const body = object as Fragment['body'];
  return client.apply({ kind: kindOf(object), body }, { fieldManager: 'bench' });
}

/** Does `each` for all items, `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  each: (item: T, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      await each(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
}
