/** The status to write: as desired, but with condition times that change only when a condition flips. */

import { isObject, type JsonObject, member } from './json.ts';

/** Kubernetes' `metav1.Time`: RFC 3339 in whole seconds. */
export function kubeTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/**
 * The desired status with each condition's `lastTransitionTime` taken from the current condition of the same type when its `status`
 * did not flip and that time is not yet to come; else what the condition itself says, else `now`. Nothing else is touched.
 */
export function settledStatus(current: unknown, desired: unknown, now: Date): unknown {
  if (!isObject(desired) || !Array.isArray(desired['conditions'])) return desired;
  const old = member(current, 'conditions');
  const before = Array.isArray(old) ? old.filter(isObject) : [];
  const conditions = desired['conditions'].map((item: unknown) => (isObject(item) ? settled(item, before, now) : item));
  return { ...desired, conditions };
}

function settled(condition: JsonObject, before: readonly JsonObject[], now: Date): JsonObject {
  const old = before.find(({ type }) => type === condition['type']);
  const isSame = old?.['status'] === condition['status'] && !isToCome(old?.['lastTransitionTime'], now);
  const kept = isSame ? old?.['lastTransitionTime'] : undefined;
  return { ...condition, lastTransitionTime: kept ?? condition['lastTransitionTime'] ?? kubeTime(now) };
}

/** Nothing has changed at a time that has not come: somebody else wrote it. */
function isToCome(time: unknown, now: Date): boolean {
  return typeof time === 'string' && Date.parse(time) > now.getTime();
}
