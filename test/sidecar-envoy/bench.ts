/** Measures what the sidecar costs: `node test/sidecar-envoy/bench.ts [seconds]`, as root; prints a table. Needs a quiet machine to mean anything. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listeners } from '../../runtime/sidecar/envoy/listeners.ts';
import { type JsonObject, typeUrl, types } from '../../runtime/sidecar/envoy/names.ts';
import { type Snapshot, snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { packed } from '../../runtime/sidecar/wire/registry.ts';
import { startAgent } from './agent.ts';
import { type Bed, pass, startBed, until } from './bed.ts';
import type { Figures, Load } from './load.ts';

const seconds = Number(process.argv[2] ?? 5);
const directPort = 9_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

async function load(options: Load): Promise<Figures> {
  const child = fork(path.join(import.meta.dirname, 'load.ts'));
  child.send(options);
  const [figures] = (await once(child, 'message')) as [Figures];
  return figures;
}

/** The same listeners without the processor. */
function alone({ intent }: Bed): Snapshot {
  const withoutProcessor = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.filter((each) => !isProcessor(each)).map(withoutProcessor);
    if (typeof json !== 'object' || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withoutProcessor(value)]));
  };
  const resources = listeners(intent).map((json) => ({
    name: json.name,
    any: packed(types.listener, withoutProcessor(json) as JsonObject),
  }));
  return new Map([...snapshot(intent, undefined), [typeUrl(types.listener), resources]]);
}

function isProcessor(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'name' in json && json.name === 'envoy.filters.http.ext_proc';
}

function residentMiB(pid: number): string {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) / 1024).toFixed(0);
}

/** Milliseconds of CPU a process has had. The kernel counts in hundredths of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const bed = await startBed({
  intent: { accessLog: false },
  isRecorded: false,
  rules: { inbound: () => ({ ...pass, set: { authorization: `Bearer ${'n'.repeat(900)}` } }) },
});
try {
  say(`Envoy served ${bed.readyMs.toFixed(0)} ms after its start`);
  bed.namespace.run('iptables', [
    '-t',
    'nat',
    '-I',
    'PREROUTING',
    '-p',
    'tcp',
    '--dport',
    String(directPort),
    '-j',
    'RETURN',
  ]);
  const uncaptured = await startAgent(bed.namespace, directPort);
  say(
    `idle: Envoy ${residentMiB(bed.envoy.pid)} MiB, this process with discovery and processor ${residentMiB(process.pid)} MiB`,
  );
  say('| way | connections | requests/s | p50 ms | p99 ms | failed | CPU µs/request Envoy | processor |');
  say('|---|---|---|---|---|---|---|---|');
  const ways = [
    { name: 'direct', port: directPort, serves: undefined },
    { name: 'Envoy alone', port: bed.agent.port, serves: alone(bed) },
    { name: 'Envoy + processor', port: bed.agent.port, serves: snapshot(bed.intent, undefined) },
  ] as const;
  for (const { name, port, serves } of ways) {
    if (serves !== undefined) {
      bed.discovery.publish(serves);
      await until(() => bed.discovery.isSettled && bed.discovery.refusals.length === 0);
      await sleep(1_000);
    }
    for (const connections of [1, 16, 64]) {
      const before = { envoy: cpuMs(bed.envoy.pid), own: cpuMs(process.pid) };
      const { perSecond, p50Ms, p99Ms, failed } = await load({ host: bed.namespace.ip, port, connections, seconds });
      // A second of warming up is in the CPU's time, and in no other figure.
      const requests = perSecond * (seconds + 1);
      const each = (pid: number, from: number) => (((cpuMs(pid) - from) * 1000) / requests).toFixed(0);
      const cpu = [each(bed.envoy.pid, before.envoy), each(process.pid, before.own)];
      say(
        `| ${[name, connections, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), failed, ...cpu].join(' | ')} |`,
      );
    }
  }
  say(`after load: Envoy ${residentMiB(bed.envoy.pid)} MiB, this process ${residentMiB(process.pid)} MiB`);
  await uncaptured.end();
} finally {
  await bed.stop();
}
