/** Calls through a sidecar, measured: how long they take, how many there are, and what CPU each costs whom. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { type Bed, until } from '../sidecar-envoy/bed.ts';
import type { Namespace } from '../sidecar-envoy/namespace.ts';
import { ends } from './cleanup.ts';
import { type Figure, numberText } from './figures.ts';
import { usageOf } from './process-usage.ts';
import type { Calls, Timing } from './sidecar-calls.ts';

/** How many calls are under way at a time. */
export const concurrencies = [1, 16, 64] as const;

/** Where the calls are made: on this machine, or inside a pod as a user whose connections are captured or not. */
export type From = 'outside' | { readonly namespace: Namespace; readonly uid: number };

export interface Measured extends Timing {
  /** Microseconds of CPU of each call: of the Envoys, and of this process, which has discovery and rules. */
  readonly envoyUs: number;
  readonly rulesUs: number;
}

function started(from: From, program: string, parameters: readonly string[]): ChildProcess {
  const file = path.join(import.meta.dirname, program);
  if (from === 'outside') return fork(file, parameters);
  const { namespace, uid } = from;
  return namespace.start(uid, process.execPath, [file, ...parameters], ['ignore', 'inherit', 'inherit', 'ipc']);
}

/** A server in a process of its own, which answers everything with that text. Resolves, when it listens, to how it is ended. */
export async function answering(from: From, text: string, ports: readonly number[]): Promise<() => Promise<void>> {
  const child = started(from, 'answers.ts', [text, ...ports.map(String)]);
  const end = ends(async () => {
    if (child.exitCode !== null) return;
    child.disconnect();
    await once(child, 'exit');
  });
  const [said] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (said !== 'listening') throw new Error(`the server on ${ports.join(', ')} ended: ${String(said)}`);
  return end;
}

/** Makes the calls in a process of its own. `beds`: whose Envoys they pass. */
export async function measure(from: From, calls: Calls, beds: readonly Bed[]): Promise<Measured> {
  const child = started(from, 'sidecar-calls.ts', []);
  const envoys = (): number => beds.reduce((sum, { envoy }) => sum + usageOf(envoy.pid).cpuMs, 0);
  const before = { envoys: envoys(), own: usageOf(process.pid).cpuMs };
  child.send(calls);
  const [timing] = (await once(child, 'message')) as [Timing];
  const each = (ms: number): number => (ms * 1000) / timing.requests;
  return {
    ...timing,
    envoyUs: each(envoys() - before.envoys),
    rulesUs: each(usageOf(process.pid).cpuMs - before.own),
  };
}

/** Has Envoy take another configuration, and waits until it has and the one before is gone. */
export async function publish({ discovery }: Bed, snapshot: Snapshot): Promise<void> {
  discovery.publish(snapshot);
  await until(() => discovery.isSettled && discovery.refusals.length === 0);
  await sleep(500);
}

/** Measured in the same run, by the name it is compared by. */
export type Baselines = Readonly<Record<string, Measured>>;

/** Two rows: calls in a second and the CPU of each, and how long they took. */
export function rows(what: string, measured: Measured, baselines: Baselines): readonly Figure[] {
  const { perSecond, p50Ms, p99Ms, failed, envoyUs, rulesUs } = measured;
  const ratio = (of: (each: Measured) => number): string =>
    Object.entries(baselines)
      .map(([name, baseline]) => `${numberText(of(measured) / of(baseline))} of ${name}`)
      .join(', ');
  // Past Envoy there is nothing to tell but the kernel's ticks.
  const cpu = envoyUs < 1 ? [] : [`CPU each: Envoy ${numberText(envoyUs)} µs, sidecar ${numberText(rulesUs)} µs`];
  const losses = failed === 0 ? [] : [`**${failed} failed**`];
  return [
    {
      what,
      value: perSecond,
      unit: 'req/s',
      ratio: ratio((each) => each.perSecond),
      note: [...cpu, ...losses].join('; '),
    },
    {
      what: '… p50',
      value: p50Ms,
      unit: 'ms',
      ratio: ratio((each) => each.p50Ms),
      note: `p99 ${numberText(p99Ms)} ms`,
    },
  ];
}
