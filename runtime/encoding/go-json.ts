/** Compact, sorted JSON as Go's `encoding/json` writes maps: not RFC 8785, and needed where a Go program signed. */

import { type JsonStyle, styledJson } from './canonical-json.ts';

/**
 * Members sorted by UTF-8 bytes; `<`, `>`, `&`, U+2028 and U+2029 escaped; `-0` keeps its sign. Numbers are otherwise as in ECMAScript.
 * Throws `TypeError` for what has no JSON form, as `canonicalJson` does.
 */
export function goJson(value: unknown): string {
  return styledJson(value, style);
}

/** What Go escapes beside what JSON asks for, and how. */
const escapes: readonly (readonly [char: string, escape: string])[] = ['<', '>', '&', '\u2028', '\u2029'].map(
  (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`],
);

const style: JsonStyle = { compare: byCodePoint, string: goString, number: goNumber };

function goString(value: string): string {
  const text = JSON.stringify(value);
  if (!/[<>&\u2028\u2029]/.test(text)) return text;
  return escapes.reduce((left, [char, escape]) => left.replaceAll(char, escape), text);
}

function goNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : JSON.stringify(value);
}

/** UTF-8 sorts as code points do; UTF-16 puts surrogates, which stand for the highest, before U+E000. */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}
