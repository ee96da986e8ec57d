/** Servers that a file's tests start, each ended with its test. */

import { afterEach } from 'node:test';
import { type RunningOptions, runningServer } from '../runtime/engine/admission-fixtures.ts';

type Running = Awaited<ReturnType<typeof runningServer>>;
const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

export async function start(options: RunningOptions = {}): Promise<Running> {
  const running = await runningServer(options);
  started.push(running);
  return running;
}
