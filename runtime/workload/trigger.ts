/** What the triggers of every controller are made of. */

import type { Change, KubeObject, ObjectKey, Reader, Trigger, Watch } from '../engine/types.ts';

/** A watch and its objects' type belong together; the list of triggers is of mixed types. */
export function trigger<T extends KubeObject>(
  watch: Watch<T>,
  affects: (change: Change<T>, reader: Reader) => readonly ObjectKey[],
): Trigger {
  return { watch, affects } as unknown as Trigger;
}

export function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata.namespace, name: metadata.name ?? '' };
}
