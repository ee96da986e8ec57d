/** Reads JSON that comes from outside: bounded in size and depth, and only what means the same to every parser (I-JSON, RFC 7493). */

/** A JSON value as it was read. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; every member is its own, also one named `__proto__`. */
export interface JsonObject {
  readonly [name: string]: Json;
}

export interface JsonLimits {
  /** Bytes of the text. */
  readonly bytes: number;
  /** Objects and arrays within each other; the outermost counts as one. */
  readonly depth: number;
}

/**
 * `encoding`: not UTF-8; `syntax`: no JSON (RFC 8259); `duplicate`: a member name twice in one object, after unescaping;
 * `value`: a lone surrogate or a number beyond a double; `limit`: too large or too deep.
 */
export interface JsonFault {
  readonly kind: 'encoding' | 'syntax' | 'duplicate' | 'value' | 'limit';
  /** A sentence without a full stop; what it quotes of the text is bounded and escaped. */
  readonly message: string;
}

/** The value of the whole text, or why it is refused. Never throws. A byte order mark is no part of JSON and is refused as such. */
export function parseStrictJson(
  bytes: Uint8Array,
  limits: JsonLimits,
): { readonly value: Json } | { readonly fault: JsonFault } {
  try {
    if (bytes.length > limits.bytes) throw new Refused('limit', `it is larger than ${limits.bytes} bytes`);
    const parser = new Parser(decoded(bytes), limits.depth);
    return { value: parser.document() };
  } catch (error) {
    if (error instanceof Refused) return { fault: { kind: error.kind, message: error.message } };
    throw error;
  }
}

/** True for an object; false for a list, a primitive and nothing at all. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class Refused extends Error {
  readonly kind: JsonFault['kind'];
  constructor(kind: JsonFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused('encoding', 'it is not UTF-8');
  }
}

const quote = 0x22;
const backslash = 0x5c;
/** By the first character. */
const literals: ReadonlyMap<string | undefined, readonly [text: string, value: Json]> = new Map([
  ['t', ['true', true]],
  ['f', ['false', false]],
  ['n', ['null', null]],
]);
const numberPattern = '-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?';

class Parser {
  readonly #text: string;
  readonly #mostDepth: number;
  readonly #number = new RegExp(numberPattern, 'y');
  #at = 0;
  #depth = 0;

  constructor(text: string, mostDepth: number) {
    this.#text = text;
    this.#mostDepth = mostDepth;
  }

  document(): Json {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(): Json {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  /** Passes the bracket that opens an object or array. */
  #enter(): void {
    this.#depth += 1;
    if (this.#depth > this.#mostDepth) {
      throw new Refused('limit', `it is nested deeper than ${this.#mostDepth} levels (${this.#place()})`);
    }
    this.#at += 1;
  }

  #object(): JsonObject {
    this.#enter();
    const members: Record<string, Json> = {};
    if (!this.#takes('}')) {
      do this.#member(members);
      while (this.#takes(','));
      this.#expect('}');
    }
    this.#depth -= 1;
    return members;
  }

  #member(members: Record<string, Json>): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== '"') throw this.#unexpected();
    const start = this.#at;
    const name = this.#string();
    if (Object.hasOwn(members, name)) {
      throw new Refused('duplicate', `the member ${shown(name)} occurs twice in one object (${this.#place(start)})`);
    }
    this.#expect(':');
    setMember(members, name, this.#value());
  }

  #array(): readonly Json[] {
    this.#enter();
    const items: Json[] = [];
    if (!this.#takes(']')) {
      do items.push(this.#value());
      while (this.#takes(','));
      this.#expect(']');
    }
    this.#depth -= 1;
    return items;
  }

  #string(): string {
    const start = this.#at;
    let at = start + 1;
    let isEscaped = false;
    for (let code = this.#text.charCodeAt(at); code !== quote; code = this.#text.charCodeAt(at)) {
      // Also false at the end of the text, where the code is NaN.
      if (!(code >= 0x20)) throw this.#unexpected(Math.min(at, this.#text.length));
      if (code === backslash) isEscaped = true;
      at += code === backslash ? 2 : 1;
    }
    this.#at = at + 1;
    const value = isEscaped ? this.#unescaped(start) : this.#text.slice(start + 1, at);
    if (!value.isWellFormed()) throw new Refused('value', `a lone surrogate is not text (${this.#place(start)})`);
    return value;
  }

  #unescaped(start: number): string {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw new Refused('syntax', `a string has an escape that JSON does not know (${this.#place(start)})`);
    }
  }

  #scalar(): Json {
    const literal = literals.get(this.#text[this.#at]);
    if (literal !== undefined && this.#text.startsWith(literal[0], this.#at)) {
      this.#at += literal[0].length;
      return literal[1];
    }
    this.#number.lastIndex = this.#at;
    if (!this.#number.test(this.#text)) throw this.#unexpected();
    const value = Number(this.#text.slice(this.#at, this.#number.lastIndex));
    if (!Number.isFinite(value)) throw new Refused('value', `a number is out of range (${this.#place()})`);
    this.#at = this.#number.lastIndex;
    return value;
  }

  #skipSpace(): void {
    for (let code = this.#text.charCodeAt(this.#at); isSpace(code); code = this.#text.charCodeAt(this.#at))
      this.#at += 1;
  }

  #takes(char: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #expect(char: string): void {
    if (!this.#takes(char)) throw this.#unexpected();
  }

  #unexpected(at = this.#at): Refused {
    const char = this.#text.codePointAt(at);
    const what = char === undefined ? 'it ends too early' : `${shown(String.fromCodePoint(char))} is unexpected`;
    return new Refused('syntax', `${what} (${this.#place(at)})`);
  }

  #place(at = this.#at): string {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Gives an object that is being made its own member of any name: assigning `__proto__` would set the prototype instead. */
export function setMember(members: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') members[name] = value;
  else Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Quoted, ASCII only, cut after 64 characters. */
function shown(text: string): string {
  const cut = text.length > 64 ? `${text.slice(0, 64)}…` : text;
  return JSON.stringify(cut).replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
