/** Two operator processes, each behind a fault proxy of its own, started again whenever they end, as a kubelet would. */

import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { portOf } from '../support/engine-bed.ts';
import type { OperatorBed } from '../support/operator-bed.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { pause } from './pause.ts';

export interface Replica {
  readonly name: string;
  readonly proxy: FaultProxy;
  /** The process of now; undefined between an end and the next start. */
  readonly current: OperatorProcess | undefined;
}

export interface Replicas {
  readonly all: readonly Replica[];
  /** Starts so far. */
  readonly starts: number;
  /** Ends that nobody asked for by a signal, other than by losing the lease: a line each. */
  readonly crashes: readonly string[];
  /** A process that ends from now on stays away. */
  stop(): void;
  close(): Promise<void>;
}

const restartMs = 1_000;

/** Starts both. */
export async function startReplicas(bed: OperatorBed, count = 2): Promise<Replicas> {
  const ending = new AbortController();
  const crashes: string[] = [];
  let starts = 0;
  const loops: Promise<void>[] = [];
  const all = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const proxy = await startFaultProxy(portOf(bed.plane));
      const replica: { name: string; proxy: FaultProxy; current: OperatorProcess | undefined } = {
        name: `replica-${at}`,
        proxy,
        current: undefined,
      };
      loops.push(
        (async () => {
          while (!ending.signal.aborted) {
            starts += 1;
            const process = await bed.start(`${replica.name}-${starts}`, {
              port: proxy.port,
              flags: { 'drain-seconds': 1 },
            });
            replica.current = process;
            const { code, signal } = await process.exit;
            replica.current = undefined;
            if (!isExpected(process, code, signal)) crashes.push(lastWords(process, code));
            await pause(restartMs, ending.signal);
          }
        })(),
      );
      return replica;
    }),
  );
  return {
    all,
    get starts() {
      return starts;
    },
    crashes,
    stop: () => ending.abort(),
    close: async () => {
      ending.abort();
      await Promise.all(all.map(async ({ current }) => current?.kill()));
      await Promise.all(loops);
      await Promise.all(all.map(({ proxy }) => proxy.close()));
    },
  };
}

/** Killed, stopped in order (or before the program had been loaded), or gone because the lease was lost. */
function isExpected({ lines }: OperatorProcess, code: number | null, signal: NodeJS.Signals | null): boolean {
  if (signal === 'SIGKILL' || code === 0 || (signal === 'SIGTERM' && lines.length === 0)) return true;
  return code === 1 && lines.some(({ msg }) => msg.startsWith('the lease is lost'));
}

function lastWords({ name, lines, stderr }: OperatorProcess, code: number | null): string {
  const said = lines.slice(-3).map((line) => JSON.stringify(line));
  return `${name} ended with ${code ?? 'a signal'}: ${[...said, stderr.trim()].filter(Boolean).join(' | ')}`;
}
