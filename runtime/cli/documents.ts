/** Text → Kubernetes objects with where each stands: multi-document YAML, JSON documents (separated or not), lists unrolled. */

import { isRecord } from '../authbridge/record.ts';
import { CliError } from './cli-error.ts';
import { type Piece, valuesOf } from './piece.ts';
import { shownValue } from './shown.ts';

export interface SourceText {
  /** As the user named it; `-` for standard input. */
  readonly file: string;
  readonly text: string;
}

/** One object of the input. */
export interface Document {
  /** For messages: `pods.yaml, document 2 (line 14)`. */
  readonly origin: string;
  readonly isJson: boolean;
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Every object of the sources, in order. Throws `CliError` naming file, document and line for whatever is not a Kubernetes object. */
export function documentsOf(sources: readonly SourceText[]): readonly Document[] {
  return sources.flatMap(documentsIn);
}

function documentsIn({ file, text }: SourceText): readonly Document[] {
  const found: Document[] = [];
  let number = 0;
  for (const piece of piecesOf(text.replace(/^\uFEFF/, ''))) {
    const { firstLine } = piece;
    const parsed = valuesOf(piece, file);
    if ('fault' in parsed) {
      const where = parsed.line === undefined ? '' : `, line ${firstLine + parsed.line - 1}`;
      throw new CliError(`${file}, document ${number + parsed.before + 1}${where}: ${parsed.fault}`);
    }
    for (const { value, line } of parsed.values) {
      number += 1;
      if (value === undefined || value === null) continue;
      const origin = `${file}, document ${number} (line ${firstLine + line - 1})`;
      found.push(...unrolled(value, { origin, isJson: parsed.isJson }));
    }
  }
  return found;
}

/** The text between `---` lines. What stands before the first of them counts only if it says something. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  const end = () => {
    const piece = lines.join('\n');
    if (pieces.length > 0 || firstLine > 1 || says(piece)) pieces.push({ text: piece, firstLine });
  };
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^---(?=\s|$)/.test(line)) {
      if (at > 0) end();
      firstLine = at + 1;
      lines = [line.replace('---', '   ')];
    } else lines.push(line);
  }
  end();
  return pieces;
}

/** More than blanks, comments and directives. */
function says(piece: string): boolean {
  return piece.split('\n').some((line) => /^\s*[^\s#%]/.test(line));
}

type Place = Pick<Document, 'origin' | 'isJson'>;

/** The object itself, or a list's items; items of a typed list may leave out what the list says (`PodList`). */
function unrolled(value: unknown, place: Place): readonly Document[] {
  if (!isRecord(value)) throw new CliError(`${place.origin} is no Kubernetes object: it is ${typeName(value)}`);
  const { apiVersion, kind, items } = value;
  if (!isName(kind)) throw notAnObject(place, 'kind', kind);
  if (!isName(apiVersion)) throw notAnObject(place, 'apiVersion', apiVersion);
  const isList = kind.endsWith('List') && 'items' in value;
  if (!isList) return [{ ...place, apiVersion, kind, object: value }];
  if (items !== null && items !== undefined && !Array.isArray(items)) {
    throw new CliError(`${place.origin}: ${kind}: items must be a list, not ${shownValue(items)}`);
  }
  const implied = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return (items ?? []).flatMap((item: unknown, at) =>
    unrolled(isRecord(item) ? { ...implied, ...item } : item, { ...place, origin: `${place.origin}, item ${at + 1}` }),
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function notAnObject({ origin }: Place, field: string, value: unknown): CliError {
  const what =
    value === undefined || value === null || value === '' ? 'is missing' : `must be text, not ${shownValue(value)}`;
  return new CliError(`${origin} is no Kubernetes object: ${field} ${what}`);
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? 'a list' : `the ${typeof value} ${shownValue(value)}`;
}
