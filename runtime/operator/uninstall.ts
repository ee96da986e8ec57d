/** Takes an install's traces out of a cluster, with or without an operator that still runs: it becomes the operator and lets go of everything. */

import { createAgentCardController, createVerifiedLabelController } from '../agent-card/controller.ts';
import { createContacts } from '../agent-card/contacts.ts';
import { createAgentRuntimeController } from '../agent-runtime/controller.ts';
import { kinds } from '../api/kinds.ts';
import { configWatches, createLayerReader } from '../config/read.ts';
import { createCache } from '../engine/cache.ts';
import { type Client, createClient } from '../engine/client.ts';
import { systemClock } from '../engine/clock.ts';
import { isNotFound } from '../engine/errors.ts';
import type { Connection } from '../engine/kubeconfig.ts';
import { unlimited } from '../engine/limiter.ts';
import { createMetrics } from '../engine/metrics.ts';
import { createTransport } from '../engine/transport.ts';
import type { Controller, Log, ObjectRef } from '../engine/types.ts';
import { createElectedManager } from './elected-manager.ts';
import type { Asked, Chosen } from './installs.ts';
import { networkPoliciesIn, remove, removeAll, resourcesIn, type Traces, tracesIn } from './traces.ts';
import { noVerification } from './verification-options.ts';

export interface UninstallOptions {
  readonly connection: Connection;
  /** Which install; its operator and namespace may be gone. */
  readonly asked: Asked;
  readonly log: Log;
  /** A line for each step, and for what is waited for. */
  readonly report: (line: string) => void;
  /** How long AgentRuntimes and AgentCards are waited for, in milliseconds. */
  readonly withinMs: number;
}

const pollMs = 1_000;

export interface Uninstaller {
  /** Throws `ChoiceError` where the install cannot be told from others. */
  find(): Promise<Traces>;
  /** In an order that leaves nothing waiting for what is gone. Resolves to what is left after `withinMs`: nothing, if all went well. */
  run(found: Traces): Promise<readonly ObjectRef[]>;
  close(): Promise<void>;
}

export function createUninstaller(options: UninstallOptions): Uninstaller {
  const { connection, asked, report } = options;
  const metrics = createMetrics({ process: false });
  const shared = { connection, clock: systemClock, metrics, limiter: unlimited };
  const client = createClient(createTransport({ ...shared, userAgent: 'rossoctl-uninstall' }));
  return {
    find: () => tracesIn(client, asked.namespace, asked),
    run: async (found) => {
      // First what refuses changes or waits for the operator, so that nobody is held up by what follows.
      await removeAll(client, found.gates, report);
      await removeAll(client, found.operators, report);
      for (const each of found.resources) await remove(client, each);
      if (found.resources.length > 0)
        report(`${found.resources.length} AgentRuntimes and AgentCards are being deleted`);
      const left = await released(options, client, found.install);
      await removeAll(client, await networkPoliciesIn(client, found.install.namespaces), report);
      return left;
    },
    close: () => client.close(),
  };
}

/** Runs the controllers that let go, until what is being deleted is gone; what is left then. */
async function released(options: UninstallOptions, client: Client, install: Chosen): Promise<readonly ObjectRef[]> {
  const remaining = () => resourcesIn(client, install.namespaces);
  let left = await remaining();
  if (left.length === 0) return left;
  const manager = await letGo(options, client, install);
  await manager.start();
  try {
    const end = systemClock.monotonicMs() + options.withinMs;
    for (let told = left.length; left.length > 0 && systemClock.monotonicMs() < end; left = await remaining()) {
      if (left.length !== told) options.report(`${left.length} left`);
      told = left.length;
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return left;
  } finally {
    await manager.stop();
  }
}

async function letGo({ connection, log }: UninstallOptions, client: Client, { namespace, namespaces }: Chosen) {
  const clock = systemClock;
  const metrics = createMetrics({ process: false });
  const cache = createCache({ client, clock, log, metrics, namespaces });
  const watches = configWatches(namespace);
  const noFile = { current: { text: undefined, path: '' }, subscribe: () => () => {} };
  const layers = createLayerReader({ watches, operatorNamespace: namespace, configFile: noFile, gatesFile: noFile });
  const identity = `uninstall-${process.pid}`;
  const leaseClient = createClient(
    createTransport({ connection, clock, metrics, limiter: unlimited, userAgent: 'rossoctl-uninstall' }),
  );
  const manager = createElectedManager({
    client,
    leaseClient,
    namespace,
    name: identity,
    identity,
    // Where the namespace is gone or going there is nobody to compete with, and no lease could be made.
    isElected: await isThere(client, namespace),
    cache,
    clock,
    log,
    metrics,
    onLost: () => {},
  });
  const files = {};
  const contacts = createContacts({ ask: () => new Promise(() => {}), time: clock });
  const controllers: readonly Controller[] = [
    createAgentRuntimeController({
      layers,
      watches,
      files,
      metrics,
      needsEnabledNamespace: false,
      operatorNamespace: namespace,
    }) as Controller,
    createAgentCardController({
      contacts,
      layers,
      watches,
      files,
      metrics,
      verification: noVerification,
    }) as Controller,
    createVerifiedLabelController() as Controller,
  ];
  for (const controller of controllers) manager.addController(controller);
  return {
    start: () => manager.start(),
    stop: async () => {
      await manager.stop();
      await leaseClient.close();
    },
  };
}

async function isThere(client: Client, name: string): Promise<boolean> {
  try {
    const { metadata } = await client.get(kinds.namespace, { name });
    return metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
