/** Reads the YAML of manifests as Kubernetes' own tools do: YAML 1.1 scalars, without dates and base-60 numbers. */

import { LineCounter, parseAllDocuments, type Tags } from 'yaml';
import type { ParsedValue, ParseFault } from './parsed-value.ts';

/** Scalars that kubectl leaves as text. */
const leftAsText = new Set(['tag:yaml.org,2002:timestamp']);

/**
 * Every document of the text. `0644` is octal and `on` is true, as in any manifest; timestamps stay text, and so does every key. Whole numbers beyond 2^53 keep their
 * digits (bigint). Keys that occur twice are a fault.
 */
export function yamlValues(text: string): readonly ParsedValue[] | ParseFault {
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, {
      version: '1.1',
      intAsBigInt: true,
      stringKeys: true,
      lineCounter: lines,
      customTags: (tags: Tags) => tags.filter((tag) => typeof tag === 'string' || !isLeftAsText(tag)),
    });
    if (!Array.isArray(documents)) return [];
    const values: ParsedValue[] = [];
    for (const document of documents) {
      const [error] = document.errors;
      if (error !== undefined) return { fault: firstLine(error.message), line: lines.linePos(error.pos[0]).line };
      const begin = document.contents?.range?.[0] ?? 0;
      values.push({ value: plain(document.toJS({ maxAliasCount: 1000 }), new Map()), line: lines.linePos(begin).line });
    }
    return values;
  } catch (error) {
    return { fault: firstLine(messageOf(error)), line: 1 };
  }
}

function isLeftAsText({ tag, format }: { readonly tag: string; readonly format?: string | undefined }): boolean {
  return leftAsText.has(tag) || format === 'TIME';
}

/** Whole numbers that fit become ordinary ones again. What aliases share stays shared. */
function plain(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const copy = Array.isArray(value)
    ? value.map((element) => plain(element, seen))
    : Object.fromEntries(Object.entries(value).map(([key, element]) => [key, plain(element, seen)]));
  seen.set(value, copy);
  return copy;
}

function firstLine(message: string): string {
  if (message.includes('call stack')) return 'it is nested too deeply';
  return message.replace(/ at line \d+, column \d+:?[\s\S]*$/, '').split('\n', 1)[0] ?? message;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
