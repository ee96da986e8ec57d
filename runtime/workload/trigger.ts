/** What the triggers and sources of every controller are made of. */

import type { ConfigMap } from '../api/kubernetes.ts';
import type { Change, KubeObject, Live, ObjectKey, Reader, Source, Trigger, Watch } from '../engine/types.ts';

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

/** Of a namespaced object that changed, as it is or was. */
export function namespaceOf({ old, now }: Change): string {
  return (now ?? old)?.metadata.namespace ?? '';
}

export function isNewData({ old, now }: Change<ConfigMap>): boolean {
  return old === undefined || now === undefined || dataOf(old) !== dataOf(now);
}

function dataOf({ data, binaryData }: ConfigMap): string {
  return JSON.stringify([data, binaryData]);
}

/** Mounted files, by name: one that changed may change every object. */
export function fileSources(
  files: Readonly<Record<string, Live<unknown>>>,
  every: (reader: Reader) => readonly ObjectKey[],
): readonly Source[] {
  return Object.entries(files).map(([name, file]) => ({
    name,
    start: (wake, reader) => file.subscribe(() => every(reader).forEach((key) => wake(key))),
  }));
}
