/** Reads DER (ITU-T X.690) strictly: what is only BER is refused, so that two parsers cannot read two things. */

export const tags = Object.freeze({
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
});

/** Context-specific tags: `[n]`, primitive or holding other elements. */
export const primitive = (n: number): number => 0x80 | n;
export const constructed = (n: number): number => 0xa0 | n;

/** Not DER, or not what was expected there. Caught where a whole certificate is read. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

export interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly encoded: Uint8Array;
}

/** The elements that stand side by side in `bytes`. Throws `DerError`. */
export function elements(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at);
    found.push(element);
    at += element.encoded.length;
  }
  return found;
}

/** The one element that `bytes` is. Throws `DerError`. */
export function only(bytes: Uint8Array, tag: number): Element {
  const element = elementAt(bytes, 0);
  if (element.tag !== tag || element.encoded.length !== bytes.length)
    throw new DerError('another element was expected');
  return element;
}

/** Takes elements in their order. */
export interface Cursor {
  /** Throws `DerError` when the next element is another one. */
  required(...tag: readonly number[]): Element;
  optional(tag: number): Element | undefined;
  /** Throws `DerError` when something is left. */
  end(): void;
}

export function cursor(bytes: Uint8Array): Cursor {
  const all = elements(bytes);
  let at = 0;
  return {
    required(...expected) {
      const element = all[at];
      if (element === undefined || !expected.includes(element.tag)) throw new DerError('another element was expected');
      at += 1;
      return element;
    },
    optional(tag) {
      const element = all[at];
      if (element?.tag !== tag) return undefined;
      at += 1;
      return element;
    },
    end() {
      if (at < all.length) throw new DerError('there is more than was expected');
    },
  };
}

const deepest = 32;

/** Throws `DerError` unless all of it is DER, down to the last element. */
export function checkDer(bytes: Uint8Array, depth = 1): void {
  if (depth > deepest) throw new DerError('it is nested too deeply');
  for (const { tag, content } of elements(bytes)) if ((tag & 0x20) !== 0) checkDer(content, depth + 1);
}

function elementAt(bytes: Uint8Array, at: number): Element {
  const tag = byteAt(bytes, at);
  if ((tag & 0x1f) === 0x1f) throw new DerError('tags above 30 occur in no certificate');
  const first = byteAt(bytes, at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  // 0x80 is the indefinite length of BER; four bytes say more than there is.
  if (first === 0x80 || lengthBytes > 3) throw new DerError('a length is not DER');
  let length = first;
  if (lengthBytes > 0) {
    length = 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + byteAt(bytes, at + 2 + i);
    const isShortest = length >= 0x80 && length >= 256 ** (lengthBytes - 1);
    if (!isShortest) throw new DerError('a length is not DER');
  }
  const start = at + 2 + lengthBytes;
  if (start + length > bytes.length) throw new DerError('it ends too early');
  return { tag, content: bytes.subarray(start, start + length), encoded: bytes.subarray(at, start + length) };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new DerError('it ends too early');
  return byte;
}

/** DER allows 0x00 and 0xff only (X.690 section 11.1). */
export function booleanOf({ content }: Element): boolean {
  const [byte] = content;
  if (content.length !== 1 || (byte !== 0x00 && byte !== 0xff)) throw new DerError('a boolean is not DER');
  return byte === 0xff;
}

/** A whole number from 0 to 2^31 - 1. */
export function smallIntegerOf({ content }: Element): number {
  const [first = 0x80, second = 0x80] = content;
  const isShortest = content.length === 1 || first !== 0 || second >= 0x80;
  if (first >= 0x80 || content.length > 4 || !isShortest) throw new DerError('a number is out of range');
  return content.reduce((value, byte) => value * 256 + byte, 0);
}

/** `2.5.29.15`. Bounded: longer ones than 64 bytes are refused. */
export function oidOf({ content }: Element): string {
  if (content.length === 0 || content.length > 64) throw new DerError('an object identifier is out of range');
  const arcs: number[] = [];
  let value = 0;
  for (const [at, byte] of content.entries()) {
    if (value === 0 && byte === 0x80) throw new DerError('an object identifier is not DER');
    value = value * 128 + (byte & 0x7f);
    const isLast = byte < 0x80;
    if (!isLast && at === content.length - 1) throw new DerError('it ends too early');
    if (isLast) {
      arcs.push(value);
      value = 0;
    }
  }
  const [joined = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(joined / 40));
  return [root, joined - root * 40, ...rest].join('.');
}

/** Milliseconds since 1970 of a UTCTime or GeneralizedTime in the forms RFC 5280 section 4.1.2.5 allows. */
export function timeOf({ tag, content }: Element): number {
  const text = Buffer.from(content).toString('latin1');
  const digits = tag === tags.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = Date.parse(iso);
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) throw new DerError('a time is no time');
  return time;
}
