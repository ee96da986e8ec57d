/** Reads the YAML of manifests as Kubernetes' own tools do: YAML 1.1 scalars, without dates and base-60 numbers. */

import { type Document, LineCounter, parseAllDocuments, type Scalar, type Tags, visit } from 'yaml';
import type { ParsedValue, ParseFault } from './parsed-value.ts';

/** Scalars that kubectl leaves as text. */
const leftAsText = new Set(['tag:yaml.org,2002:timestamp']);

/**
 * Every document of the text. `0644` is octal and `on` is true, as in any manifest; timestamps stay text, and so does every key. Whole numbers beyond 2^53 keep their
 * digits (bigint). Keys that occur twice are a fault, and so are numbers that no JSON can hold.
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
      if (error !== undefined)
        return { before: values.length, fault: firstLine(error.message), line: lines.linePos(error.pos[0]).line };
      const odd = oddNumber(document);
      if (odd !== undefined) {
        const fault = `${String(odd.value)} is not a number JSON can hold`;
        return { before: values.length, fault, line: lines.linePos(odd.range?.[0] ?? 0).line };
      }
      const begin = document.contents?.range?.[0] ?? 0;
      values.push({ value: plain(document.toJS({ maxAliasCount: 1000 }), new Map()), line: lines.linePos(begin).line });
    }
    return values;
  } catch (error) {
    return { before: 0, fault: firstLine(messageOf(error)), line: 1 };
  }
}

/** The first number that is infinite or none: Kubernetes takes YAML for a spelling of JSON. */
function oddNumber(document: Document): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value !== 'number' || Number.isFinite(node.value)) return undefined;
      found = node;
      return visit.BREAK;
    },
  });
  return found;
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
