/** What a command of the table is. */

import type { Arguments, Flag } from './arguments.ts';

/** Where a command reads and writes; what `main` hands in. */
export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array>;
  out(text: string): void;
  /** One line. */
  err(line: string): void;
}

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly usage: string;
  /** Paragraphs of `--help`, before the flags. */
  readonly help: string;
  readonly flags: readonly Flag[];
  /** Returns the exit code. Throws `CliError` for wrong usage. */
  run(given: Arguments, terminal: Terminal): Promise<number>;
}
