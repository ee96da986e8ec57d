/** One piece of a file, between its `---` lines, is JSON or YAML: which of the two, and what it holds. */

import { jsonValues } from './json-stream.ts';
import type { ParsedValue, ParseFault } from './parsed-value.ts';
import { yamlValues } from './yaml-stream.ts';

export interface Piece {
  readonly text: string;
  /** 1-based, within the file. */
  readonly firstLine: number;
}

/** The values of a piece, or what is wrong with it in the words of what it was meant to be. */
export function valuesOf(
  { text, firstLine }: Piece,
  file: string,
): { readonly values: readonly ParsedValue[]; readonly isJson: boolean } | ParseFault {
  const isNamedJson = /\.json$/i.test(file);
  if (!isNamedJson && !/^\s*[{[]/.test(text)) return yaml(text);
  const json = jsonValues(text, firstLine);
  if (!('fault' in json)) return { values: json, isJson: true };
  if (isNamedJson || json.kind !== 'syntax') return json;
  // Flow YAML looks like JSON. What is neither is told in the words of the language that its beginning speaks.
  const flow = yaml(text);
  return 'fault' in flow && speaksJson.test(text) ? json : flow;
}

const speaksJson = /^\s*(\{\s*["}]|\[\s*["{[\]])/;

function yaml(text: string): ReturnType<typeof valuesOf> {
  const values = yamlValues(text);
  return 'fault' in values ? values : { values, isJson: false };
}
