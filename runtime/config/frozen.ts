/** Deep freezing of plain JSON values. */

/** Freezes `value` and all it holds, in place, and returns it. What is frozen already is taken to be frozen throughout. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}
