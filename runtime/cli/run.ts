/** Connects the command line to this process. */

import { exitCodes } from './cli-error.ts';
import { main } from './main.ts';

/** Standard output may close early (`| head`): that is no error. A full disk behind it is. */
process.stdout.on('error', ({ code = 'unknown reason' }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`rossoctl: standard output cannot be written: ${code}\n`);
  process.exit(exitCodes.usage);
});

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  out: (text) => {
    process.stdout.write(text);
  },
  err: (line) => {
    process.stderr.write(`${line}\n`);
  },
});
