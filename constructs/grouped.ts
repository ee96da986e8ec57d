/** Groups values by a key, as `Map.groupBy` does, which Node 20 does not have: constructs also run on the Node of whoever installs them. */

/** Key → its values, both in the order of their first appearance. */
export function grouped<K, T>(values: readonly T[], keyOf: (value: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
