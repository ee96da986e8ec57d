/** What the sidecar costs a call: the real Envoy in a pod's network, with our rules, against no Envoy and against Envoy alone. */

import { systemClock } from '../../runtime/engine/clock.ts';
import { createLog } from '../../runtime/engine/log.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import type { Decide, Direction } from '../../runtime/sidecar/decision.ts';
import { listeners } from '../../runtime/sidecar/envoy/listeners.ts';
import { type JsonObject, typeUrl, types } from '../../runtime/sidecar/envoy/names.ts';
import { type Snapshot, snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { createIdpClient } from '../../runtime/sidecar/idp/fetch.ts';
import { createTokenFetcher } from '../../runtime/sidecar/outbound/fetch.ts';
import { packed } from '../../runtime/sidecar/wire/registry.ts';
import { findFreePort } from '../lab/ports.ts';
import { type Bed, pass, proxyUid, startBed } from '../sidecar-envoy/bed.ts';
import { ends } from './cleanup.ts';
import type { Figure, Finding } from './figures.ts';
import { usageOf } from './process-usage.ts';
import type { Calls } from './sidecar-calls.ts';
import { answering, concurrencies, type From, type Measured, measure, publish, rows } from './sidecar-load.ts';
import { createIssuer, givenToken, inboundRules, outboundRules, routedHost } from './sidecar-parts.ts';
import type { World } from './world.ts';

/** One way a call can go. */
interface Way {
  readonly name: string;
  /** `direct`: past Envoy. `alone`: through an Envoy that asks nobody. */
  readonly kind: 'direct' | 'alone' | 'rules';
  readonly decide?: Decide;
  readonly calls?: Partial<Calls>;
}

/** What both kinds of calls are: where from, where to, and the ways that are compared. */
interface Side {
  readonly direction: Direction;
  readonly from: (kind: Way['kind']) => From;
  readonly to: (kind: Way['kind']) => Pick<Calls, 'host' | 'port' | 'token' | 'authority'>;
  readonly ways: readonly Way[];
}

const direct: Way = { name: 'direct', kind: 'direct' };
const alone: Way = { name: 'Envoy, rules off', kind: 'alone' };

const application = 1000;
const ports = { uncaptured: 9_000, captured: 9_001 };

/** The same listeners without the processor. */
function withoutProcessor({ intent }: Bed): Snapshot {
  const pruned = (json: unknown): unknown => {
    if (Array.isArray(json)) return json.filter((each) => !isProcessor(each)).map(pruned);
    if (typeof json !== 'object' || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, pruned(value)]));
  };
  const resources = listeners(intent).map((json) => ({
    name: json.name,
    any: packed(types.listener, pruned(json) as JsonObject),
  }));
  return new Map([...snapshot(intent, undefined), [typeUrl(types.listener), resources]]);
}

function isProcessor(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'name' in json && json.name === 'envoy.filters.http.ext_proc';
}

/** Exchanges by HTTP, at an endpoint in a process of its own. */
async function exchanger(port: number) {
  const answer = {
    access_token: 'x'.repeat(900),
    token_type: 'Bearer',
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    expires_in: 300,
  };
  await answering('outside', JSON.stringify(answer), [port]);
  const client = createIdpClient();
  ends(() => client.close());
  return createTokenFetcher({
    client,
    clock: systemClock,
    log: createLog({ level: 'error', name: 'bench', write: (line) => process.stderr.write(line) }),
    metrics: createMetrics({ process: false }),
    auth: () => ({ method: 'client_secret_basic', id: 'agent-a', secret: 'of-the-benchmark' }),
    tokenUrl: `http://127.0.0.1:${port}/token`,
  });
}

async function sidesOf({ namespace }: Bed): Promise<readonly Side[]> {
  const issuer = await createIssuer();
  const { token } = issuer;
  namespace.run('iptables', [
    '-t',
    'nat',
    '-I',
    'PREROUTING',
    '-p',
    'tcp',
    '--dport',
    `${ports.uncaptured}`,
    '-j',
    'RETURN',
  ]);
  await answering({ namespace, uid: application }, hello, [ports.uncaptured, ports.captured]);
  const [tool, endpoint] = [await findFreePort(), await findFreePort()];
  await answering('outside', hello, [tool]);
  const exchange = await exchanger(endpoint);
  const inbound: Side = {
    direction: 'inbound',
    from: () => 'outside',
    to: (kind) => ({ host: namespace.ip, port: kind === 'direct' ? ports.uncaptured : ports.captured, token }),
    ways: [
      direct,
      alone,
      { name: 'open path', kind: 'rules', decide: inboundRules(issuer, 10), calls: { path: '/healthz' } },
      { name: 'token verified before', kind: 'rules', decide: inboundRules(issuer, 10) },
      { name: 'token not seen before', kind: 'rules', decide: inboundRules(issuer, 0) },
    ],
  };
  const outbound: Side = {
    direction: 'outbound',
    from: (kind) => ({ namespace, uid: kind === 'direct' ? proxyUid : application }),
    to: () => ({ host: namespace.gateway, port: tool, authority: `${routedHost}:${tool}`, token }),
    ways: [
      direct,
      alone,
      { name: 'token exchanged before', kind: 'rules', decide: outboundRules(givenToken, namespace.gateway) },
      {
        name: 'token exchanged for each call',
        kind: 'rules',
        decide: outboundRules(exchange, namespace.gateway),
        calls: { isTokenNew: true },
      },
    ],
  };
  return [inbound, outbound];
}

const hello = JSON.stringify({ said: 'hello' });

/** Ways one after another at each number of connections, so that what is compared is measured close together. */
async function measureSide(world: World, bed: Bed, side: Side): Promise<readonly Figure[]> {
  const { direction, from, to, ways } = side;
  const figures: Figure[] = [];
  for (const connections of concurrencies) {
    const baselines: Record<string, Measured> = {};
    for (const { name, kind, decide = () => pass, calls } of ways) {
      const what = `${direction}, ${name}, ${connections} at a time`;
      world.say(`sidecar: ${what}`);
      bed.rule(direction, decide);
      if (kind !== 'direct')
        await publish(bed, kind === 'alone' ? withoutProcessor(bed) : snapshot(bed.intent, undefined));
      const measured = await measure(from(kind), { ...to(kind), ...calls, connections, seconds: world.size(40) / 10 }, [
        bed,
      ]);
      figures.push(...rows(what, measured, baselines));
      if (kind !== 'rules') baselines[kind === 'direct' ? 'direct' : 'rules off'] = measured;
    }
  }
  return figures;
}

/** Needs root, for the pod's network; without, nothing is measured. */
export async function measureSidecar(world: World): Promise<Finding> {
  const title = 'sidecar: calls through Envoy';
  if (process.getuid?.() !== 0) return { title, how: 'Not measured: a network of its own takes root.', figures: [] };
  const bed = await startBed({ intent: { accessLog: false }, isRecorded: false });
  const end = ends(() => bed.stop());
  const figures: Figure[] = [{ what: 'from the start of Envoy until it serves', value: bed.readyMs, unit: 'ms' }];
  for (const side of await sidesOf(bed)) figures.push(...(await measureSide(world, bed, side)));
  figures.push({ what: 'memory of Envoy afterwards', value: usageOf(bed.envoy.pid).rssMib, unit: 'MiB' });
  await end();
  return {
    title,
    how: `The Envoy that is injected, in a network namespace like a pod's, its traffic captured. Discovery, processor and rules are in this process; caller, application, tool and token endpoint are one process each, on the same cores. ${concurrencies.join(', ')} connections, each one call after another for ${world.size(40) / 10} s after a second of warming up; no access log; the rules and the token are those of "sidecar: rules". "Direct" is the same call past Envoy; "rules off" is Envoy with the same listeners, asking nobody. The last row of each kind has a signature verified, or a token exchanged by HTTP, for every call: the dearest there is.`,
    figures,
  };
}
