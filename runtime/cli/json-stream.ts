/** Reads JSON documents that follow one another in a text, strictly: what two parsers could read differently is a fault. */

import { parseStrictJson, type JsonFault } from '../encoding/strict-json.ts';
import type { ParsedValue, ParseFault } from './parsed-value.ts';

/** Why a text is no JSON documents. The sentence says line and column, counted from the line on which the text begins. */
export interface JsonStreamFault extends ParseFault {
  readonly kind: JsonFault['kind'];
}

/** Deeper than any object of Kubernetes, and far from exhausting the stack. */
const mostDepth = 256;

/**
 * Every document of the text, or why it cannot be read: no JSON, a member twice, a number beyond a double, nested too deeply, or text
 * behind a document that is none. Whole numbers beyond 2^53 keep their digits (bigint).
 */
export function jsonValues(text: string, firstLine: number): readonly ParsedValue[] | JsonStreamFault {
  const values: ParsedValue[] = [];
  let line = 1;
  for (let last = 0, at = nextText(text, 0); at < text.length; at = nextText(text, last)) {
    line += newlines(text.slice(last, at));
    const end = endOfValue(text, at) ?? text.length;
    const document = text.slice(at, end);
    const column = at - text.lastIndexOf('\n', at) - 1;
    if (faultIn(document) !== undefined) {
      return { before: values.length, ...placedFault(document, firstLine + line - 1, column) };
    }
    values.push({ value: JSON.parse(document, exactIntegers), line });
    line += newlines(document);
    last = end;
  }
  return values;
}

function faultIn(text: string): JsonFault | undefined {
  const bytes = Buffer.from(text);
  const read = parseStrictJson(bytes, { bytes: bytes.length, depth: mostDepth });
  return 'fault' in read ? read.fault : undefined;
}

/** The fault of a document with its place in the file: blanks stand for what is before it. */
function placedFault(document: string, line: number, column: number): Omit<JsonStreamFault, 'before'> {
  const { kind, message } = faultIn(`${'\n'.repeat(line - 1)}${' '.repeat(column)}${document}`) ?? neverSound;
  return { kind, fault: message };
}

/** Blanks before a document cure nothing. */
const neverSound: JsonFault = { kind: 'syntax', message: 'it is no JSON' };

function nextText(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** Index after the bracket that closes the one at `start`; `undefined` when there is none or it never closes. */
function endOfValue(text: string, start: number): number | undefined {
  if (text[start] !== '{' && text[start] !== '[') return undefined;
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** `JSON.parse` gives the source text of primitives to its reviver. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exactIntegers: Reviver = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context?.source ?? 0)
    : value;

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
