/** Canonical JSON (RFC 8785): one text for one value, whatever the order in which it was built. */

/**
 * The RFC 8785 form of a JSON value: members sorted by UTF-16 code units, ECMAScript numbers, no white space, no Unicode normalisation.
 * Used for the configuration hash and for signatures, so it refuses what has no JSON form instead of guessing: throws `TypeError`
 * naming the place (a JSON Pointer) of a non-finite number, `undefined`, a function, a symbol, a bigint, a lone surrogate (RFC 7493
 * section 2.1), or an object that is neither a plain object nor an array.
 */
export function canonicalJson(value: unknown): string {
  return text(value, '');
}

function text(value: unknown, at: string): string {
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'string':
      return string(value, at);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(at, `${value} is not a JSON number`);
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? array(value, at) : object(value, at);
    default:
      throw refusal(at, `${typeof value} has no JSON form`);
  }
}

/** `JSON.stringify` escapes exactly what RFC 8785 section 3.2.2.2 asks for, once lone surrogates are out. */
function string(value: string, at: string): string {
  if (!value.isWellFormed()) throw refusal(at, 'a lone surrogate is not Unicode text');
  return JSON.stringify(value);
}

function array(items: readonly unknown[], at: string): string {
  const parts: string[] = [];
  // An index loop, because `map` skips holes and a hole would then vanish instead of being refused.
  for (let i = 0; i < items.length; i++) parts.push(text(items[i], `${at}/${i}`));
  return `[${parts.join(',')}]`;
}

function object(value: object, at: string): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refusal(at, 'only plain objects have a JSON form');
  const members = value as Readonly<Record<string, unknown>>;
  // Default sort compares UTF-16 code units: RFC 8785 section 3.2.3.
  const parts = Object.keys(members)
    .sort()
    .map((key) => `${string(key, at)}:${text(members[key], `${at}/${pointerToken(key)}`)}`);
  return `{${parts.join(',')}}`;
}

/** RFC 6901 section 3. */
function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function refusal(at: string, why: string): TypeError {
  return new TypeError(`no canonical JSON: ${why} (at ${at === '' ? 'the root' : at})`);
}
