/** Runs one load in its process and measures what the loaded process used meanwhile. */

import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import { ends } from './cleanup.ts';
import type { FromLoad, FromParent, LoadJob, LoadResult } from './load-protocol.ts';
import { usageOf } from './process-usage.ts';
import { percentile } from './statistics.ts';

export interface Loaded extends LoadResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the loaded process, for each request. */
  readonly cpuMsEach: number;
  /** Wall clock, milliseconds: when the measured part began. */
  readonly from: number;
}

const program = path.join(import.meta.dirname, 'load.ts');

/** Warms up, then measures. Throws when an answer was not of a status in `expected`. */
export async function load(job: LoadJob, pid: number, expected: readonly number[] = [200]): Promise<Loaded> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  const end = ends(() => ended(child));
  try {
    tell(child, { job });
    await heard(child, (message) => (message === 'ready' ? true : undefined));
    const before = usageOf(pid).cpuMs;
    const from = Date.now();
    tell(child, 'go');
    const result = await heard(child, (message) =>
      typeof message === 'object' && 'result' in message ? message.result : undefined,
    );
    const wrong = Object.keys(result.statuses).filter((status) => !expected.includes(Number(status)));
    if (wrong.length > 0) throw new Error(`answers of status ${wrong.join(', ')}: ${result.body.slice(0, 400)}`);
    return {
      ...result,
      perSecond: job.requests / result.seconds,
      p50: percentile(result.latencies, 0.5),
      p99: percentile(result.latencies, 0.99),
      cpuMsEach: (usageOf(pid).cpuMs - before) / job.requests,
      from,
    };
  } finally {
    await end();
  }
}

function tell(child: ChildProcess, message: FromParent): void {
  child.send(message);
}

/** The first message of which `pick` makes something. */
function heard<T>(child: ChildProcess, pick: (message: FromLoad) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('the load generator ended early'));
    const onMessage = (message: FromLoad): void => {
      const picked = pick(message);
      if (typeof message === 'object' && 'failure' in message) reject(new Error(`load: ${message.failure}`));
      else if (picked === undefined) return;
      else resolve(picked);
      child.off('exit', onExit);
      child.off('message', onMessage);
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
