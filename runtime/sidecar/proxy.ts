/** The role `envoy-proxy`: Envoy and what serves it, started in order and ended in order. */

import { systemClock } from '../engine/clock.ts';
import type { Log } from '../engine/types.ts';
import { adminClient } from './envoy/admin/client.ts';
import { serveAdmin } from './envoy/admin/server.ts';
import { bootstrap } from './envoy/bootstrap.ts';
import type { Intent } from './envoy/intent.ts';
import { socketsIn } from './envoy/names.ts';
import { startEnvoy } from './envoy/process.ts';
import type { TlsIdentity } from './envoy/secrets.ts';
import { serveDiscovery } from './envoy/server.ts';
import { snapshot } from './envoy/snapshot.ts';
import { serveProcessor } from './ext-proc/server.ts';
import { envoyHeapMiB } from './memory.ts';
import { openStatus, type Running } from './running.ts';
import type { ProxySettings } from './settings.ts';
import { createWorkloadApi } from './spiffe/client.ts';
import { degradedLine, type IdentityState, readyLine } from './spiffe/identity.ts';
import { createIdentityKeeper, type IdentityKeeper } from './spiffe/keeper.ts';
import { openTraffic } from './traffic.ts';

export interface ProxyHost {
  readonly log: Log;
  /** The pod may have IPv6 addresses. */
  readonly ipv6: boolean;
  /** What the container may take, as `process.constrainedMemory()` tells it. */
  readonly memoryBytes: number;
}

/**
 * Starts what Envoy asks before Envoy: its sockets are there when it comes. Ready is when Envoy serves with the last configuration it was sent, and,
 * with strict mutual TLS, when there is an identity: without one nobody could call.
 */
export async function startProxy(settings: ProxySettings, host: ProxyHost): Promise<Running> {
  const { log } = host;
  const clock = systemClock;
  const status = await openStatus(settings.healthPort);
  const { health, metrics } = status;
  const ending = new AbortController();
  const keeper = keeperOf(settings, { clock, log, metrics });
  const identity = keeper?.identity;
  const following = keeper?.run(ending.signal);
  const traffic = await openTraffic(settings, { clock, log, metrics, health, identity });
  const sockets = socketsIn(settings.folder);
  const processor = await serveProcessor({ socket: sockets.processor, rules: traffic.rules, clock, log, metrics });
  const intent = intentOf(settings, host);
  const now = (): TlsIdentity | undefined => tlsIdentity(identity?.state);
  const discovery = await serveDiscovery({
    socket: sockets.discovery,
    snapshot: snapshot(intent, now()),
    log,
    metrics,
  });
  const unfollow = identity?.subscribe(() => discovery.publish(snapshot(intent, now())));
  const admin = adminClient(sockets.admin);
  const pages = await serveAdmin(settings.ports.admin, admin);
  const envoy = startEnvoy({
    binary: settings.envoy,
    bootstrap: bootstrap(intent, sockets),
    folder: settings.folder,
    admin,
    clock,
    log,
  });
  health.ready('envoy', () => envoy.fault ?? discovery.refusals[0]);
  if (identity !== undefined) {
    health.degraded('spiffe-identity', () => degradedLine(identity.state));
    if (settings.mtls === 'strict') health.ready('spiffe-identity', () => readyLine(identity.state));
  }
  return {
    failed: envoy.ended,
    stop: async () => {
      health.ready('stopping', () => 'the pod is ending');
      await envoy.drain({ budgetMs: settings.drainMs });
      unfollow?.();
      ending.abort();
      processor.close();
      discovery.close();
      await Promise.all([following, traffic.close(), pages.close()]);
      await status.close();
    },
  };
}

type KeeperParts = Pick<Parameters<typeof createIdentityKeeper>[0], 'clock' | 'log' | 'metrics'>;

function keeperOf({ spiffe, pod }: ProxySettings, parts: KeeperParts): IdentityKeeper | undefined {
  if (spiffe === undefined) return undefined;
  const { socketPath, trustDomain } = spiffe;
  return createIdentityKeeper({ api: createWorkloadApi(socketPath), trustDomain, pod, ...parts });
}

function intentOf(settings: ProxySettings, { ipv6, memoryBytes }: ProxyHost): Intent {
  const { pod, ports, mtls, explicit, accessLog, plainTcpPorts } = settings;
  const node = { namespace: pod.namespace, pod: pod.name, uid: pod.uid };
  return {
    node,
    ports,
    mtls,
    explicit,
    accessLog,
    plainTcpPorts,
    ipv6,
    limits: { heapMiB: envoyHeapMiB(memoryBytes) },
  };
}

/** What Envoy is given. Once the identity has ended there is nothing to give, and Envoy keeps what it had. */
function tlsIdentity(state: IdentityState | undefined): TlsIdentity | undefined {
  if (state?.kind !== 'held') return undefined;
  const { trustDomain, chainPem, keyPem, bundle, federated } = state.svid;
  const bundles = [[trustDomain, bundle] as const, ...federated].map(([name, { pem }]) => [name, pem] as const);
  return { chain: chainPem, key: keyPem, bundles: new Map(bundles) };
}
