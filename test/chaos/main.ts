/** `npm run chaos`: harms two operators and their API server at random, then checks that all has come right. */

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos } from './run.ts';

const usage = `usage: npm run chaos -- [--minutes N] [--runtimes N] [--seed N]

  --minutes   how long there is harm (default 10)
  --runtimes  AgentRuntimes at most (default 100)
  --seed      what is chosen at random follows from it (default: random, and printed)

Exit code 0: everything converged and every invariant holds. 1: not so, with a line for each complaint.
`;

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${flag}: a number above 0 is expected, not ${JSON.stringify(text)}`);
  return number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      runtimes: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const seed = positive(values.seed, 'seed');
  const minutes = positive(values.minutes, 'minutes');
  const started = performance.now();
  const say = (line: string): void => {
    process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
  };
  say(`seed ${seed}`);
  const result = await runChaos({
    seed,
    runtimes: positive(values.runtimes, 'runtimes'),
    harmMs: minutes * 60_000,
    longestMs: 25_000,
    convergeMs: 240_000,
    say,
  });
  const listed = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([what, times]) => `${what} ${times}`).join(', ');
  process.stdout.write(`\nfaults: ${listed(result.faults)}\nchanges: ${listed(result.acts)}\n`);
  process.stdout.write(`operator processes started: ${result.starts}; writes: ${result.writes}\n`);
  for (const complaint of result.complaints) process.stdout.write(`WRONG: ${complaint}\n`);
  process.stdout.write(result.complaints.length === 0 ? `converged, seed ${seed}\n` : `not converged, seed ${seed}\n`);
  return result.complaints.length === 0 ? 0 : 1;
}

process.exit(await main());
