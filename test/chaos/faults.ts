/** What is done to the operator and to its API server: one fault at a time for each victim, chosen at random. */

import type { Fault } from '../support/fault-proxy.ts';
import type { OperatorBed } from '../support/operator-bed.ts';
import { pause } from './pause.ts';
import type { Random } from './random.ts';
import type { Replica } from './replicas.ts';

const replicaFaults = {
  'kill -9': 3,
  SIGTERM: 2,
  SIGSTOP: 2,
  reset: 3,
  silence: 1,
  'black hole': 2,
  refuse: 2,
  slow: 1,
};
const serverFaults = { killed: 2, 'stopped gracefully': 1 };

export interface FaultOptions {
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Longest time a process stands still or a connection is a black hole, in milliseconds. */
  readonly longestMs: number;
  readonly count: (what: string) => void;
}

/** Harms one replica again and again until the signal; then leaves it whole. */
export async function harmReplica(replica: Replica, options: FaultOptions): Promise<void> {
  const { proxy } = replica;
  const { random, signal, longestMs, count } = options;
  const during = async (fault: Fault): Promise<void> => {
    proxy.set(fault);
    await pause(random.between(500, longestMs), signal);
    proxy.set({ mode: 'pass' });
  };
  while (!signal.aborted) {
    await pause(random.between(1_000, 8_000), signal);
    if (signal.aborted) return;
    const what = random.weighted(replicaFaults);
    count(what);
    switch (what) {
      case 'kill -9':
        await replica.current?.kill();
        break;
      case 'SIGTERM':
        replica.current?.signal('SIGTERM');
        break;
      case 'SIGSTOP':
        await stopped(replica, random.between(500, longestMs), signal);
        break;
      case 'reset':
        proxy.reset();
        break;
      case 'silence':
        proxy.silence();
        break;
      case 'black hole':
        await during({ mode: 'black-hole' });
        break;
      case 'refuse':
        await during({ mode: 'refuse' });
        break;
      case 'slow':
        await during({ mode: 'slow', bytesPerSecond: 20_000 });
        break;
      default:
    }
  }
}

async function stopped(replica: Replica, ms: number, signal: AbortSignal): Promise<void> {
  const process = replica.current;
  process?.signal('SIGSTOP');
  await pause(ms, signal);
  process?.signal('SIGCONT');
}

/** Restarts the API server now and then. */
export async function harmServer(
  { plane }: OperatorBed,
  { random, signal, longestMs, count }: FaultOptions,
): Promise<void> {
  while (!signal.aborted) {
    await pause(random.between(15_000, 45_000), signal);
    if (signal.aborted) return;
    const what = random.weighted(serverFaults);
    count(`API server ${what}`);
    await plane.stopApiServer({ isGraceful: what !== 'killed' });
    await pause(random.between(0, longestMs / 2), signal);
    await plane.startApiServer();
  }
}
