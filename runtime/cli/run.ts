/** Connects the command line to this process. */

import { main } from './main.ts';

/** Standard output may close early (`| head`): that is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
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
