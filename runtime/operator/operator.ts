/** Composes the operator from settings: the only file that knows every part. */

import { randomUUID } from 'node:crypto';
import { release } from '../api/release.ts';
import { authBridgeReads, createAuthBridgeWebhook } from '../authbridge/webhook.ts';
import { configWatches, createLayerReader } from '../config/read.ts';
import { createAdmission } from '../engine/admission.ts';
import { type Cache, createCache } from '../engine/cache.ts';
import { liveReader } from '../engine/client.ts';
import { type Clock, systemClock } from '../engine/clock.ts';
import { createHealth } from '../engine/health.ts';
import type { Connection } from '../engine/kubeconfig.ts';
import type { Manager } from '../engine/manager.ts';
import { createMetrics } from '../engine/metrics.ts';
import { serveWebhooks } from '../engine/server.ts';
import { serveStatus } from '../engine/status-server.ts';
import type { Log, Watch, Webhook } from '../engine/types.ts';
import { createAgentCardValidator, createAgentRuntimeValidator } from '../validation/webhook.ts';
import { workloadRows } from '../workload/kinds.ts';
import { keepCertificate } from './certificates.ts';
import { openConfigurationFiles } from './configuration-files.ts';
import { createClients } from './connect.ts';
import { createControllers } from './controllers.ts';
import { createElectedManager } from './elected-manager.ts';
import { watchInstallation } from './installation.ts';
import { letGoIfRemoved } from './removal.ts';
import { watchServerVersion } from './server-version.ts';
import { pruningClient } from './pruning-client.ts';
import type { Settings } from './settings.ts';
import { tellSkew } from './skew.ts';

export interface OperatorOptions {
  readonly settings: Settings;
  readonly connection: Connection;
  readonly log: Log;
  readonly clock?: Clock;
  /** The lease is lost: the process must end. */
  readonly onLost: (reason: string) => void;
}

export interface Operator {
  readonly webhookPort: number;
  readonly statusPort: number;
  readonly metricsPort: number;
  readonly manager: Manager;
  /** SIGTERM: let go if the install is being removed → not ready → linger → drain webhooks → stop controllers → give the lease back. */
  stop(): Promise<void>;
}

/** Starts everything; resolves when webhooks are served and the controllers stand for the lease. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { settings, connection, log, clock = systemClock } = options;
  const metrics = createMetrics();
  const health = createHealth();
  tellSkew(settings.manifests, { metrics, log });
  const clients = createClients({ connection, clock, metrics, settings });
  const client = clients.work;
  const namespaces = settings.namespaces.length === 0 ? undefined : settings.namespaces;
  const cache = createCache({ client, clock, log, metrics, namespaces });
  const files = await openConfigurationFiles(
    { config: settings.configPath, gates: settings.gatesPath },
    { log, metrics },
  );
  const version = watchServerVersion(clients.transport, clock, log);
  const watches = configWatches(settings.namespace);
  const layers = createLayerReader({
    watches,
    operatorNamespace: settings.namespace,
    configFile: files.config,
    gatesFile: files.gates,
  });
  const live = liveReader(clients.prompt);

  const installation = watchInstallation({ settings, cache, health, metrics, log });
  const manager = createElectedManager({
    client: pruningClient(client, (kind) => installation.olderSchema(kind)),
    leaseClient: clients.lease,
    namespace: settings.namespace,
    name: settings.podName,
    identity: `${settings.podName}_${randomUUID().slice(0, 8)}`,
    isElected: settings.leaderElect,
    cache,
    clock,
    log,
    metrics,
    onLost: options.onLost,
  });
  const shared = {
    settings,
    layers,
    watches,
    files: { config: files.config, gates: files.gates },
    metrics,
    clock,
    log,
  };
  for (const controller of createControllers(shared)) manager.addController(controller);

  const needed = [...authBridgeReads, watches.platform, watches.gates, watches.defaults] as readonly Watch[];
  for (const watch of needed) cache.start(watch);
  health.ready('webhook-cache', () => unsynced(cache, needed));
  health.ready('lease', () => leaseProblem(manager));
  health.degraded('controllers', () => waitingControllers(manager));
  health.degraded('configuration-files', () => files.config.fault ?? files.gates.fault);

  const status = await serveStatus({ port: settings.healthPort, health, metrics });
  const metricsServer =
    settings.metricsPort === settings.healthPort
      ? status
      : await serveStatus({ port: settings.metricsPort, health, metrics });
  const keeper = keepCertificate({ settings, client, cache, health, metrics, log });
  const started = manager.start();
  const validating = { live, supported: supportedKinds, operatorNamespace: settings.namespace };
  const server = await serveWebhooks({
    port: settings.webhookPort,
    certificate: await keeper.certificate,
    webhooks: [
      createAuthBridgeWebhook({
        reader: cache,
        live,
        layers,
        nativeSidecars: () => version.nativeSidecars,
        operatorNamespace: settings.namespace,
      }) as Webhook,
      createAgentRuntimeValidator(validating) as Webhook,
      createAgentCardValidator(validating) as Webhook,
    ],
    admission: createAdmission({ log, metrics, clock }),
    health,
    log,
  });
  await started;
  log.info('operator started', {
    release,
    webhookPort: server.port,
    healthPort: status.port,
    metricsPort: metricsServer.port,
  });

  return {
    webhookPort: server.port,
    statusPort: status.port,
    metricsPort: metricsServer.port,
    manager,
    stop: async () => {
      await letGoIfRemoved({ manager, client: clients.prompt, settings, log });
      keeper.stop();
      version.stop();
      files.stop();
      await Promise.all([server.close({ lingerMs: settings.drainSeconds * 1000 }), manager.stop()]);
      await Promise.all([status.close(), metricsServer === status ? undefined : metricsServer.close()]);
      await clients.close();
      health.stop();
    },
  };
}

const supportedKinds = workloadRows.map(({ watch }) => ({ apiVersion: watch.kind.apiVersion, kind: watch.kind.kind }));

function unsynced(cache: Cache, watches: readonly Watch[]): string | undefined {
  // One namespace that may not be read, or is not there yet, must not have the pods of all others refused.
  const waiting = watches.filter((watch) => !cache.isFresh(watch, -Infinity));
  if (waiting.length === 0) return undefined;
  const states = waiting.map((watch) => cache.state(watch));
  return states.map(({ id, reason }) => `watch ${id}: ${reason ?? 'its first list is not complete'}`).join('; ');
}

/** A replica that neither holds the lease nor has ever seen another hold it may be one of two that both do nothing (LE-01). */
function leaseProblem(manager: Manager): string | undefined {
  const { isHeld, holder, problem } = manager.health().lease;
  return isHeld || holder !== undefined ? undefined : problem;
}

function waitingControllers(manager: Manager): string | undefined {
  const waiting = manager.health().controllers.filter(({ reason }) => reason !== undefined);
  return waiting.length === 0 ? undefined : waiting.map(({ name, reason }) => `${name}: ${reason ?? ''}`).join('; ');
}
