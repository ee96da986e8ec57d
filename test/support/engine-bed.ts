/** What tests of the engine share: a connection to any port, a client, a cache, a log that remembers, waiting for something to become true. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CacheOptions, createCache } from '../../runtime/engine/cache.ts';
import { type Client, createClient } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createEvents } from '../../runtime/engine/events.ts';
import type { Connection } from '../../runtime/engine/kubeconfig.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createManager, type ManagerOptions } from '../../runtime/engine/manager.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport, type TransportOptions } from '../../runtime/engine/transport.ts';
import type { Kind, KubeObject, Log } from '../../runtime/engine/types.ts';
import type { ControlPlane } from '../lab/control-plane.ts';

/** With an index signature, so that it is a fragment too. */
export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> } & Readonly<
    Record<string, unknown>
  >;

export const configMaps: Kind<ConfigMap> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
export const namespaces: Kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

export function configMap(namespace: string, name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export function memoryLog(
  lines: LogLine[] = [],
  base: Readonly<Record<string, unknown>> = {},
): Log & { lines: LogLine[] } {
  const at =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields: { ...base, ...fields } });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => memoryLog(lines, { ...base, ...fields }),
    lines,
  };
}

export interface Reach {
  readonly port: number;
  /** Folder with `ca.crt`, and `admin.crt` unless there is a token. Read at each connection. */
  readonly certificatesDir: string;
  readonly token?: string | undefined;
}

/** A connection to a port of this machine. */
export function reach({ port, certificatesDir, token }: Reach): Connection {
  const file = (name: string): Buffer => readFileSync(path.join(certificatesDir, name));
  const identity = () => (token === undefined ? { cert: file('admin.crt'), key: file('admin.key') } : {});
  return {
    server: `https://127.0.0.1:${port}`,
    currentNamespace: 'default',
    authorization: () => Promise.resolve(token === undefined ? undefined : `Bearer ${token}`),
    tls: () => Promise.resolve({ ca: file('ca.crt'), ...identity() }),
    refresh: () => {},
  };
}

export function portOf({ server }: ControlPlane): number {
  return Number(new URL(server).port);
}

export interface BedOptions extends Partial<TransportOptions> {
  readonly cache?: Partial<CacheOptions>;
}

/** A client and what is needed to make caches and managers on it; `close` ends all of it. */
export function createBed(connection: Connection, { cache: cacheDefaults, ...options }: BedOptions = {}) {
  const metrics = createMetrics({ process: false });
  const log = memoryLog();
  const client: Client = createClient(
    createTransport({
      connection,
      clock: systemClock,
      metrics,
      limiter: unlimited,
      userAgent: 'engine-test',
      ...options,
    }),
  );
  const caches: { stop(): Promise<void> }[] = [];
  return {
    client,
    metrics,
    log,
    clock: systemClock,
    newCache: (more: Partial<CacheOptions> = {}) => {
      const cache = createCache({ client, clock: systemClock, log, metrics, freeze: true, ...cacheDefaults, ...more });
      caches.push(cache);
      return cache;
    },
    stopCaches: async () => {
      await Promise.all(caches.splice(0).map((cache) => cache.stop()));
    },
    close: async () => {
      await Promise.all(caches.splice(0).map((cache) => cache.stop()));
      await client.close();
    },
  };
}

export type Bed = ReturnType<typeof createBed>;

/** A manager on the bed's client with a cache of its own; `stop` ends both. */
export function createManagerOn(
  bed: Bed,
  options: Partial<ManagerOptions> & { readonly cacheOptions?: Partial<CacheOptions> } = {},
) {
  const { cacheOptions, ...rest } = options;
  const { client, clock, log, metrics } = bed;
  const events = createEvents({ client, clock, log, metrics, instance: 'test' });
  return createManager({
    client,
    clock,
    log,
    metrics,
    events,
    cache: bed.newCache(cacheOptions),
    onLost: () => {},
    ...rest,
  });
}

/** How long tests wait for what comes at once on a quiet machine, so that a starved one passes too. */
export const patienceMs = 120_000;

/** Waits until `check` no longer throws or says false; fails with what it last said. The longer it has waited, the more seldom it looks. */
export async function eventually(check: () => unknown, withinMs = patienceMs): Promise<void> {
  const began = performance.now();
  const waited = (): number => performance.now() - began;
  for (;;) {
    try {
      const said = await check();
      if (said !== false) return;
      if (waited() > withinMs) assert.fail(`not within ${withinMs} ms: ${check.toString()}`);
    } catch (error) {
      if (waited() > withinMs) throw error;
    }
    await sleep(pauseAfter(waited()));
  }
}

/** A twentieth of what was waited: looks that follow each other at once would take a core from the tests beside. */
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 20, 20), 200);
}

/** A namespace of the test's own. */
export async function makeNamespace(client: Client, name: string): Promise<string> {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

/** The value of one series in the registry's text, 0 when it is not there. */
export async function metric(bed: Pick<Bed, 'metrics'>, series: string): Promise<number> {
  const line = (await bed.metrics.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}
