/** The RFC 6902 operations that turn one JSON value into another which shares with it, by reference, whatever it did not change. */

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Compares with `===` and descends only where references differ, so the cost follows what was changed and not the size.
 * An existing map or list is never replaced as long as the value at its place is still a map or list.
 * A member whose value is `undefined` counts as absent, as it does in JSON. Operations are in the order in which they apply.
 */
export function jsonPatch(old: unknown, now: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare('', old, now, operations);
  return operations;
}

type Json = Readonly<Record<string, unknown>>;
type Out = JsonPatchOperation[];

function compare(path: string, old: unknown, now: unknown, out: Out): void {
  if (old === now) return;
  if (Array.isArray(old) && Array.isArray(now)) compareLists(path, old, now, out);
  else if (isMap(old) && isMap(now)) compareMaps(path, old, now, out);
  else out.push({ op: 'replace', path, value: now });
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own members only: `__proto__` may be a key of foreign JSON. */
function member(map: Json, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** RFC 6901: `~` first, then `/`. */
function pointer(path: string, key: string): string {
  return `${path}/${key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key}`;
}

function compareMaps(path: string, old: Json, now: Json, out: Out): void {
  for (const key of Object.keys(old)) {
    if (old[key] !== undefined && member(now, key) === undefined) out.push({ op: 'remove', path: pointer(path, key) });
  }
  for (const key of Object.keys(now)) {
    const value = now[key];
    const before = member(old, key);
    if (value === before || value === undefined) continue;
    if (before === undefined) out.push({ op: 'add', path: pointer(path, key), value });
    else compare(pointer(path, key), before, value, out);
  }
}

/** The part of two lists between their common beginning and their common end. */
interface Window {
  readonly path: string;
  readonly start: number;
  readonly old: readonly unknown[];
  readonly now: readonly unknown[];
}

function compareLists(path: string, old: readonly unknown[], now: readonly unknown[], out: Out): void {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  compareWindows(
    { path, start, old: old.slice(start, old.length - end), now: now.slice(start, now.length - end) },
    out,
  );
}

function compareWindows(window: Window, out: Out): void {
  const { path, start, old, now } = window;
  const places = old.length <= now.length ? placesIn(old, now) : placesIn(now, old);
  if (places === undefined) replaceWindow(window, out);
  else if (old.length <= now.length) insert(window, places, out);
  else {
    for (let at = old.length - 1; at >= 0; at -= 1) {
      if (!places.has(at)) out.push({ op: 'remove', path: `${path}/${start + at}` });
    }
    let at = 0;
    for (const from of places.keys()) {
      compare(`${path}/${start + at}`, old[from], now[at], out);
      at += 1;
    }
  }
}

/** Ascending, so that every index before the one worked on is final already. */
function insert({ path, start, old, now }: Window, places: ReadonlyMap<number, number>, out: Out): void {
  for (const [at, value] of now.entries()) {
    const from = places.get(at);
    if (from === undefined) out.push({ op: 'add', path: `${path}/${start + at}`, value });
    else compare(`${path}/${start + at}`, old[from], value, out);
  }
}

/** Where the elements of the shorter list are found, in order, in the longer one: place there → place here. */
function placesIn(short: readonly unknown[], long: readonly unknown[]): ReadonlyMap<number, number> | undefined {
  const places = new Map<number, number>();
  for (const [at, value] of long.entries()) {
    if (places.size < short.length && isSame(short[places.size], value)) places.set(at, places.size);
  }
  return places.size === short.length ? places : undefined;
}

/** The same element, changed or not: by reference, or by the `name` that keys most lists of Kubernetes. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isMap(one) || !isMap(other)) return false;
  const name = member(one, 'name');
  return typeof name === 'string' && name === member(other, 'name');
}

/** Nothing is recognised: elements that merely changed in place are compared one by one, others are taken out and put in. */
function replaceWindow({ path, start, old, now }: Window, out: Out): void {
  const kept = Math.min(old.length, now.length);
  for (let at = 0; at < kept; at += 1) compareElements(`${path}/${start + at}`, old[at], now[at], out);
  for (let at = old.length - 1; at >= kept; at -= 1) out.push({ op: 'remove', path: `${path}/${start + at}` });
  for (let at = kept; at < now.length; at += 1) out.push({ op: 'add', path: `${path}/${start + at}`, value: now[at] });
}

function compareElements(path: string, old: unknown, now: unknown, out: Out): void {
  if (isMap(old) && isMap(now) && member(old, 'name') !== member(now, 'name')) {
    out.push({ op: 'replace', path, value: now });
  } else {
    compare(path, old, now, out);
  }
}
