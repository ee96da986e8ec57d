/** Which changes of its primary object wake a controller. */

import { isEqualJson } from './json.ts';
import type { Change, KubeObject } from './types.ts';

/**
 * `any`: every change. `spec`: not when only status changed, that is when generation, labels, annotations, finalizers and deletion
 * are as before. A kind without `generation` (ConfigMap, Secret) cannot be told apart and always wakes.
 */
export function isWakened(wakeOn: 'spec' | 'any', { old, now }: Change): boolean {
  if (wakeOn === 'any' || old === undefined || now === undefined) return true;
  return now.metadata.generation === undefined || !isSameButStatus(old, now);
}

function isSameButStatus({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    isEqualJson(a.labels, b.labels) &&
    isEqualJson(a.annotations, b.annotations) &&
    isEqualJson(a.finalizers, b.finalizers)
  );
}
