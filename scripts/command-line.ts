/** Parses a script's flags: wrong usage is one line and exit code 2, `--help` is its text and 0. */

import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Values of the flags; ends the process on `--help` and on wrong usage. `usage` is what `--help` prints. */
export function parseCommandLine<const T extends NonNullable<ParseArgsConfig['options']>>(usage: string, options: T) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } }, strict: true });
    if ('help' in values && values.help === true) {
      process.stdout.write(usage);
      return process.exit(0);
    }
    return values as ReturnType<typeof parseArgs<{ options: T }>>['values'];
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return process.exit(2);
  }
}
