/** Violations of a configuration → one sentence that names object, line, path and remedy. */

import type { LayerProblem, LayerSource } from './layers.ts';
import type { Violation } from './violation.ts';

/** How many violations a message spells out; the rest is counted. */
const spelledOut = 3;
const longestShown = 80;

/** The problem of a layer; `violations` must not be empty. Path and line are those of the first violation in the text. */
export function problemOf(source: LayerSource, violations: readonly Violation[]): LayerProblem {
  const inOrder = [...violations].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const [first] = inOrder;
  const sentences = inOrder.slice(0, spelledOut).map(sentence);
  const more = inOrder.length - sentences.length;
  return Object.freeze({
    source,
    kind: 'invalid',
    ...(first === undefined || first.path === '' ? {} : { path: shortened(first.path) }),
    ...(first?.line === undefined ? {} : { line: first.line }),
    message: `${source.where}: ${sentences.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
  });
}

function sentence({ path, line, message }: Violation): string {
  const where = line === undefined ? '' : `line ${line}: `;
  return path === '' ? `${where}${message}` : `${where}${shortened(path)}: ${message}`;
}

/** A value for a message: as JSON, bounded, with credentials in URLs masked. Any value will do: a program passes what no text can hold. */
export function shown(value: unknown): string {
  return shortened(masked(written(value)));
}

/** What JSON cannot say (NaN, a bigint, a function, a cycle) as a program writes or calls it. */
function written(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Array.isArray(value) ? 'a list' : 'a section';
  }
}

/** `https://user:secret@host` → `https://***@host`. */
export function masked(text: string): string {
  return text.replace(/:\/\/[^/\s@"]*@/g, '://***@');
}

/** Bounds text that comes from a user, and takes control characters out of it, before it enters a message. */
export function shortened(text: string): string {
  const printable = text
    .slice(0, longestShown)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\u{FFFD}');
  return text.length <= longestShown ? printable : `${printable}…`;
}
