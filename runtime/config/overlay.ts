/** Laying one partial configuration over another, leaf by leaf. */

/** A section: keys with sections and leaves below. */
export type Section = Readonly<Record<string, unknown>>;

/** A leaf by its dotted path. Lists are leaves; the entries of a string map are leaves of their own. */
export type Leaf = readonly [path: string, value: unknown];

/**
 * `above` over `below`: sections and string maps are merged key by key, everything else of `above` replaces. An empty section sets
 * nothing. Associative; the order of keys changes nothing but the order of keys. Neither argument is changed, subtrees are shared.
 */
export function overlaid(below: Section, above: Section): Section {
  const result: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    if (!isSection(value)) {
      if (value !== undefined) result[key] = value;
      continue;
    }
    const merged = overlaid(isSection(under) ? under : {}, value);
    if (isSection(under) || Object.keys(merged).length > 0) result[key] = merged;
  }
  return result;
}

/** Every leaf of a section, in the section's own order. */
export function leavesOf(section: Section, prefix = ''): readonly Leaf[] {
  return Object.entries(section).flatMap(([key, value]): readonly Leaf[] => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return isSection(value) ? leavesOf(value, path) : [[path, value]];
  });
}

/** True for a plain object; lists are leaves. */
export function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
