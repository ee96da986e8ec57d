/** Canonical JSON (RFC 8785): one text for one value, whatever the order in which it was built. */

/**
 * The RFC 8785 form of a JSON value: members sorted by UTF-16 code units, ECMAScript numbers, no white space, no Unicode normalisation.
 * Used for the configuration hash and for signatures, so it refuses what has no JSON form instead of guessing: throws `TypeError`
 * naming the place (a JSON Pointer) of a non-finite number, `undefined`, a function, a symbol, a bigint, a lone surrogate (RFC 7493
 * section 2.1), or an object that is neither a plain object nor an array.
 */
export function canonicalJson(value: unknown): string {
  return styledJson(value, rfc8785);
}

/** How a writer of compact, sorted JSON differs from another. */
export interface JsonStyle {
  /** Order of member names. Absent: by UTF-16 code units (RFC 8785 section 3.2.3). */
  readonly compare?: (a: string, b: string) => number;
  /** The text of a string that holds no lone surrogate. */
  readonly string: (value: string) => string;
  /** The text of a finite number. */
  readonly number: (value: number) => string;
}

/** `JSON.stringify` escapes exactly what RFC 8785 section 3.2.2.2 asks for, once lone surrogates are out. */
const rfc8785: JsonStyle = { string: (value) => JSON.stringify(value), number: (value) => JSON.stringify(value) };

/** Compact JSON with sorted members in another style; refuses what `canonicalJson` refuses. */
export function styledJson(value: unknown, style: JsonStyle): string {
  return text(value, style, []);
}

/** Where the value stands that is being written; spelled out only when it is refused. */
type Path = (string | number)[];

function text(value: unknown, style: JsonStyle, path: Path): string {
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'string':
      return string(value, style, path);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(path, `${value} is not a JSON number`);
      return style.number(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? array(value, style, path) : object(value, style, path);
    default:
      throw refusal(path, `${typeof value} has no JSON form`);
  }
}

function string(value: string, style: JsonStyle, path: Path): string {
  if (!value.isWellFormed()) throw refusal(path, 'a lone surrogate is not Unicode text');
  return style.string(value);
}

function array(items: readonly unknown[], style: JsonStyle, path: Path): string {
  const parts: string[] = [];
  // An index loop, because `map` skips holes and a hole would then vanish instead of being refused.
  for (let i = 0; i < items.length; i++) {
    path.push(i);
    parts.push(text(items[i], style, path));
    path.pop();
  }
  return `[${parts.join(',')}]`;
}

function object(value: object, style: JsonStyle, path: Path): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refusal(path, 'only plain objects have a JSON form');
  const members = value as Readonly<Record<string, unknown>>;
  const parts: string[] = [];
  for (const key of Object.keys(members).sort(style.compare)) {
    const name = string(key, style, path);
    path.push(key);
    parts.push(`${name}:${text(members[key], style, path)}`);
    path.pop();
  }
  return `{${parts.join(',')}}`;
}

/** A name in a JSON Pointer (RFC 6901 section 3). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function refusal(path: Path, why: string): TypeError {
  const at = path.map((step) => `/${pointerToken(String(step))}`).join('');
  return new TypeError(`no canonical JSON: ${why} (at ${at === '' ? 'the root' : at})`);
}
