/** Measures what mutual TLS costs a call from pod to pod: `node test/sidecar-envoy/bench-mtls.ts [seconds]`, as root; prints a table. Needs a quiet machine. */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import type { TlsIdentity } from '../../runtime/sidecar/envoy/secrets.ts';
import { createAuthority } from '../support/svid.ts';
import { type Bed, pass, startBed } from './bed.ts';
import type { Figures, Load } from './load.ts';

const seconds = Number(process.argv[2] ?? 5);
const say = (line: string) => process.stdout.write(`${line}\n`);
const authority = await createAuthority('home');

async function pod(name: string): Promise<Bed> {
  const { chain, key } = await authority.issue(`spiffe://example.org/${name}`);
  const identity: TlsIdentity = { chain, key, bundles: new Map([['example.org', authority.pem]]) };
  return startBed({ intent: { accessLog: false, mtls: 'permissive' }, identity, isRecorded: false });
}

/** Lets packets go from one pod to the other; ends with their interfaces. */
function connect({ namespace }: Bed): void {
  const found = Object.entries(networkInterfaces()).find(([, all = []]) =>
    all.some(({ address }) => address === namespace.gateway),
  );
  writeFileSync(`/proc/sys/net/ipv4/conf/${found?.[0] ?? ''}/forwarding`, '1');
}

/** From within the pod that calls. */
async function load({ namespace }: Bed, options: Load): Promise<Figures> {
  const program = path.join(import.meta.dirname, 'load.ts');
  const child = namespace.start(1000, process.execPath, [program], ['ignore', 'inherit', 'inherit', 'ipc']);
  child.send(options);
  const [figures] = (await once(child, 'message')) as [Figures];
  return figures;
}

/** Milliseconds of CPU that an Envoy has had. */
function cpuMs({ envoy }: Bed): number {
  const fields = readFileSync(`/proc/${envoy.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const beds = await Promise.all([pod('caller'), pod('callee')]);
const [caller, callee] = beds;
try {
  for (const each of beds) connect(each);
  say('| way | connections | requests/s | p50 ms | p99 ms | failed | CPU µs/request of both Envoys |');
  say('|---|---|---|---|---|---|---|');
  for (const isMtls of [false, true]) {
    caller.rule('outbound', () => ({ ...pass, isMtls }));
    for (const connections of [1, 16, 64]) {
      const before = cpuMs(caller) + cpuMs(callee);
      const to = { host: callee.namespace.ip, port: callee.agent.port };
      const { perSecond, p50Ms, p99Ms, failed } = await load(caller, { ...to, connections, seconds });
      // A second of warming up is in the CPU's time, and in no other figure.
      const cpu = ((cpuMs(caller) + cpuMs(callee) - before) * 1000) / (perSecond * (seconds + 1));
      const name = isMtls ? 'mutual TLS' : 'plain HTTP';
      say(
        `| ${[name, connections, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), failed, cpu.toFixed(0)].join(' | ')} |`,
      );
    }
  }
} finally {
  await Promise.all(beds.map((each) => each.stop()));
}
