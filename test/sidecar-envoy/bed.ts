/** A pod in a network namespace: an application, Envoy under its supervisor, and our discovery server and processor in this process. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createLog } from '../../runtime/engine/log.ts';
import { createMetrics, type Metrics } from '../../runtime/engine/metrics.ts';
import type { Decide, Decision, Direction, RequestHead } from '../../runtime/sidecar/decision.ts';
import { type AdminClient, adminClient } from '../../runtime/sidecar/envoy/admin/client.ts';
import { bootstrap } from '../../runtime/sidecar/envoy/bootstrap.ts';
import type { Intent } from '../../runtime/sidecar/envoy/intent.ts';
import { type Sockets, socketsIn } from '../../runtime/sidecar/envoy/names.ts';
import { type Envoy, startEnvoy } from '../../runtime/sidecar/envoy/process.ts';
import type { TlsIdentity } from '../../runtime/sidecar/envoy/secrets.ts';
import { type DiscoveryServer, serveDiscovery } from '../../runtime/sidecar/envoy/server.ts';
import { snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { type Processor, serveProcessor } from '../../runtime/sidecar/ext-proc/server.ts';
import { ensureEnvoy } from '../../scripts/envoy.ts';
import { type Agent, startAgent } from './agent.ts';
import { createNamespace, type Namespace } from './namespace.ts';

export interface BedOptions {
  readonly intent?: Partial<Intent>;
  readonly identity?: TlsIdentity;
  /** Default: pass. */
  readonly rules?: Partial<Record<Direction, Decide>>;
  readonly deadlineMs?: number;
  /** The init container sets the rules. Default: a few rules of our own, which leave Envoy alone with what they let through. */
  readonly isCapturedForReal?: boolean;
  /** Whether `heads` is filled. Default true. */
  readonly isRecorded?: boolean;
  /** Default: wait until Envoy serves. */
  readonly isAwaited?: boolean;
}

export interface Bed {
  /** Milliseconds from Envoy's start until it served; NaN when that was not awaited. */
  readonly readyMs: number;
  readonly namespace: Namespace;
  readonly agent: Agent;
  readonly envoy: Envoy;
  readonly admin: AdminClient;
  readonly discovery: DiscoveryServer;
  readonly processor: Processor;
  readonly metrics: Metrics;
  readonly intent: Intent;
  readonly sockets: Sockets;
  /** Every request that was decided, in order. */
  readonly heads: readonly RequestHead[];
  /** Lines of the access log, as JSON. */
  readonly access: readonly Readonly<Record<string, unknown>>[];
  /** Lines of our log. */
  readonly log: readonly string[];
  /** Replaces a rule. */
  rule(direction: Direction, decide: Decide): void;
  stop(): Promise<void>;
}

export const proxyUid = 1337;
export const ports = { inbound: 15124, outbound: 15123 };

/** All that comes in goes to the inbound port; all that goes out to the outbound one, except for Envoy's own connections and the loopback. */
export function capture(namespace: Namespace, uid = proxyUid): void {
  namespace.run('iptables-restore', [], rulesFor('127.0.0.0/8', uid));
  namespace.run('ip6tables-restore', [], rulesFor('::1/128', uid));
}

function captureForReal(namespace: Namespace): void {
  const env = {
    PROXY_PORT: ports.outbound,
    INBOUND_PROXY_PORT: ports.inbound,
    ADMIN_PORT: 15000,
    HEALTH_PORT: 15021,
    PROXY_UID: proxyUid,
    POD_IP: namespace.ip,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  namespace.run('env', [...variables, process.execPath, path.join(import.meta.dirname, 'proxy-init.ts')]);
}

function rulesFor(loopback: string, uid: number): string {
  return [
    '*nat',
    `-A PREROUTING -p tcp -j REDIRECT --to-ports ${ports.inbound}`,
    `-A OUTPUT -m owner --uid-owner ${uid} -j RETURN`,
    `-A OUTPUT -d ${loopback} -j RETURN`,
    `-A OUTPUT -p tcp -j REDIRECT --to-ports ${ports.outbound}`,
    'COMMIT',
    '',
  ].join('\n');
}

export const pass: Decision = { kind: 'pass', reason: 'test' };

export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const { rules = {}, identity, deadlineMs } = options;
  const namespace = await createNamespace();
  if (options.isCapturedForReal === true) captureForReal(namespace);
  else if (options.intent?.explicit === undefined) capture(namespace);
  const intent: Intent = {
    node: { namespace: 'team1', pod: 'agent-1', uid: '1' },
    ports,
    ipv6: true,
    mtls: 'disabled',
    accessLog: true,
    ...options.intent,
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-envoy-'));
  chmodSync(folder, 0o755);
  const sockets = socketsIn(folder);
  const metrics = createMetrics({ process: false });
  const lines: string[] = [];
  const access: Readonly<Record<string, unknown>>[] = [];
  const heads: RequestHead[] = [];
  const log = createLog({ level: 'debug', name: 'sidecar', write: (line) => lines.push(line) });
  const current: Record<Direction, Decide> = { inbound: () => pass, outbound: () => pass, ...rules };
  const recorded =
    (direction: Direction): Decide =>
    (head, signal) => {
      if (options.isRecorded ?? true) heads.push(head);
      return current[direction](head, signal);
    };
  const common = { log, metrics };
  const discovery = await serveDiscovery({
    ...common,
    socket: sockets.discovery,
    snapshot: snapshot(intent, identity),
  });
  const processor = await serveProcessor({
    ...common,
    socket: sockets.processor,
    clock: systemClock,
    rules: { inbound: recorded('inbound'), outbound: recorded('outbound') },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const admin = adminClient(sockets.admin);
  const begun = performance.now();
  let readyMs = Number.NaN;
  const envoy = startEnvoy({
    binary: await insideOf(namespace, folder),
    bootstrap: bootstrap(intent, sockets),
    folder,
    admin,
    clock: systemClock,
    log,
    onAccess: (line) => access.push(JSON.parse(line) as Readonly<Record<string, unknown>>),
  });
  const agent = await startAgent(namespace);
  const bed: Bed = {
    get readyMs() {
      return readyMs;
    },
    namespace,
    agent,
    envoy,
    admin,
    discovery,
    processor,
    metrics,
    intent,
    sockets,
    heads,
    access,
    log: lines,
    rule: (direction, decide) => {
      current[direction] = decide;
    },
    stop: async () => {
      await envoy.kill();
      await agent.end();
      processor.close();
      discovery.close();
      await namespace.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    if (options.isAwaited ?? true) await untilReady(bed);
    readyMs = performance.now() - begun;
  } catch (error) {
    await bed.stop();
    throw error;
  }
  return bed;
}

/** A bed for one use. */
export async function withBed(options: BedOptions, use: (bed: Bed) => Promise<void>): Promise<void> {
  const bed = await startBed(options);
  try {
    await use(bed);
  } finally {
    await bed.stop();
  }
}

/** Envoy runs as the user whose connections are not captured, in the pod's network. */
async function insideOf(namespace: Namespace, folder: string): Promise<string> {
  const binary = path.join(folder, 'envoy');
  const command = namespace.command(proxyUid, await ensureEnvoy(), []).join(' ');
  writeFileSync(binary, `#!/bin/sh\nchown -R ${proxyUid} ${folder}\nexec ${command} "$@"\n`, { mode: 0o755 });
  return binary;
}

export async function untilReady({ envoy, log }: Bed): Promise<void> {
  await until(
    () => envoy.fault === undefined,
    () => `${envoy.fault}\n${log.join('')}`,
  );
}

/** Waits until it is so, 20 seconds at most. */
export async function until(isSo: () => boolean | Promise<boolean>, why: () => string = () => ''): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within 20 s: ${why()}`);
    await sleep(20);
  }
}
