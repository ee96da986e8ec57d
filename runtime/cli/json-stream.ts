/** Reads JSON documents that follow one another in a text. */

import type { ParsedValue } from './parsed-value.ts';

/** Every document of the text, or `undefined` when it is not JSON throughout (it may still be YAML). Whole numbers beyond 2^53 keep their digits. */
export function jsonValues(text: string): readonly ParsedValue[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const values: ParsedValue[] = [];
  for (let at = nextText(text, 0); at < text.length; ) {
    const end = endOfObject(text, at);
    if (end === undefined) return undefined;
    const value = parsed(text.slice(at, end));
    if (value === undefined) return undefined;
    values.push({ value, line: lineAt(text, at) });
    at = nextText(text, end);
  }
  return values;
}

function nextText(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** Index after the brace that closes the object at `start`; `undefined` when it begins with none or never closes. */
function endOfObject(text: string, start: number): number | undefined {
  if (text[start] !== '{') return undefined;
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, exactIntegers);
  } catch {
    return undefined;
  }
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
