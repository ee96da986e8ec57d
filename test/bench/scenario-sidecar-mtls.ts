/** What mutual TLS costs a call from pod to pod: two Envoys, each in a pod's network, with certificates as SPIRE gives them. */

import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { TlsIdentity } from '../../runtime/sidecar/envoy/secrets.ts';
import { type Bed, pass, startBed } from '../sidecar-envoy/bed.ts';
import { type Authority, createAuthority } from '../support/svid.ts';
import { ends } from './cleanup.ts';
import type { Figure, Finding } from './figures.ts';
import { answering, concurrencies, type Measured, measure, rows } from './sidecar-load.ts';
import type { World } from './world.ts';

const application = 1000;
const port = 9_000;

async function pod(authority: Authority, name: string): Promise<Bed> {
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

/** Needs root, for the pods' networks; without, nothing is measured. */
export async function measureSidecarMtls(world: World): Promise<Finding> {
  const title = 'sidecar: mutual TLS from pod to pod';
  if (process.getuid?.() !== 0) return { title, how: 'Not measured: a network of its own takes root.', figures: [] };
  const authority = await createAuthority('home');
  const beds = await Promise.all([pod(authority, 'caller'), pod(authority, 'callee')]);
  const end = ends(async () => void (await Promise.all(beds.map((each) => each.stop()))));
  for (const each of beds) connect(each);
  const [caller, callee] = beds;
  await answering({ namespace: callee.namespace, uid: application }, JSON.stringify({ said: 'hello' }), [port]);
  const seconds = world.size(40) / 10;
  const figures: Figure[] = [];
  for (const connections of concurrencies) {
    const baselines: Record<string, Measured> = {};
    for (const isMtls of [false, true]) {
      const what = `${isMtls ? 'mutual TLS' : 'plain HTTP'}, ${connections} at a time`;
      world.say(`sidecar-mtls: ${what}`);
      caller.rule('outbound', () => ({ ...pass, isMtls }));
      const from = { namespace: caller.namespace, uid: application };
      const measured = await measure(from, { host: callee.namespace.ip, port, connections, seconds }, beds);
      figures.push(...rows(what, measured, baselines));
      baselines['plain HTTP'] = measured;
    }
  }
  await end();
  return {
    title,
    how: `As above, with an Envoy at each end and rules that let all pass. Each connection is one call after another for ${seconds} s after a second of warming up. The CPU is that of both Envoys.`,
    figures,
  };
}
