/** What ends the command with a sentence instead of a result. */

/** Exit codes of every command: 0 done, 1 the answer is no, 2 the question could not be read. */
export const exitCodes = { ok: 0, denied: 1, usage: 2 } as const;

/** Wrong usage or unreadable input: printed as one line, exit code 2. */
export class CliError extends Error {
  override readonly name = 'CliError';
}
