/** What reading one piece of text yields: values with their lines, or the fault. */

/** A value as it stood in the text; `line` is 1-based within the piece it was found in. */
export interface ParsedValue {
  readonly value: unknown;
  readonly line: number;
}

/** Why a piece cannot be read; `line` is absent where the sentence says its place itself. */
export interface ParseFault {
  readonly fault: string;
  readonly line?: number;
  /** How many values of the piece stand before it. */
  readonly before: number;
}
