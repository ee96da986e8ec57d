/** A cache bounded by the weight of what it holds; what was used longest ago goes first. */

export interface Lru<V> {
  /** Makes the entry the most recently used one. */
  get(key: string): V | undefined;
  /** An entry heavier than the whole cache is not kept. */
  set(key: string, value: V, weight: number): void;
  clear(): void;
  /** Weight of all entries. */
  weight(): number;
}

export function createLru<V>(mostWeight: number): Lru<V> {
  const entries = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;

  function drop(key: string): void {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > mostWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= mostWeight) break;
        drop(oldest);
      }
    },
    clear() {
      entries.clear();
      total = 0;
    },
    weight: () => total,
  };
}
