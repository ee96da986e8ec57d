/** Many Deployments and their AgentRuntimes, made as fast as the API server takes them, and watched until all are enrolled. */

import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { annotations, apiVersion } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { ObjectKey, Watch } from '../../runtime/engine/types.ts';
import type { Bed } from '../support/engine-bed.ts';
import { inParallel } from './api-objects.ts';

export interface Fleet {
  readonly namespaces: readonly string[];
  /** Of the Deployments and of the AgentRuntimes, which have the same names. */
  readonly keys: readonly Required<ObjectKey>[];
}

const writers = 16;

/** Names of a fleet spread over its namespaces; nothing is created. */
export function planFleet(name: string, count: number): Fleet {
  const spaces = Math.min(10, Math.ceil(count / 10));
  const namespaces = Array.from({ length: spaces }, (_, index) => `${name}-${index}`);
  const keys = Array.from({ length: count }, (_, index) => ({
    namespace: `${name}-${index % spaces}`,
    name: `agent-${String(index).padStart(4, '0')}`,
  }));
  return { namespaces, keys };
}

/** Namespaces and Deployments without replicas, unless `make` makes others. */
export async function createDeployments(
  client: Client,
  fleet: Fleet,
  make: (key: Required<ObjectKey>, index: number) => Deployment = (key) => deployment(key),
): Promise<void> {
  for (const name of fleet.namespaces) {
    await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await inParallel(fleet.keys, writers, (key, index) => client.create(kinds.deployment, make(key, index)));
}

/** About 3 KB as stored, as a template with probes, resources and a few variables is. */
export function deployment({ namespace, name }: Required<ObjectKey>, replicas = 0): Deployment {
  const variable = (index: number) => ({ name: `SETTING_${index}`, value: `value-of-setting-number-${index}` });
  const probe = (path: string) => ({ httpGet: { path, port: 8080 }, periodSeconds: 10, timeoutSeconds: 2 });
  const container = {
    name: 'agent',
    image: `example.test/${name}:1`,
    ports: [{ name: 'http', containerPort: 8080 }],
    env: Array.from({ length: 12 }, (_, index) => variable(index)),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels: { app: name, 'app.kubernetes.io/part-of': 'bench' } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [container], volumes: [{ name: 'cache', emptyDir: {} }] },
      },
    },
  } as Deployment;
}

export function agentRuntime({ namespace, name }: Required<ObjectKey>): AgentRuntime {
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return { apiVersion, kind: 'AgentRuntime', metadata: { namespace, name }, spec: { type: 'agent', targetRef } };
}

export interface Enrolment {
  /** From the first create until the last runtime was enrolled. */
  readonly seconds: number;
  /** Until the last create was answered. */
  readonly creating: number;
  /** From its create until a runtime was enrolled, milliseconds. */
  readonly latencies: readonly number[];
}

const textOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;
const hashOf = (object: Deployment | undefined): string | undefined =>
  object?.spec.template.metadata?.annotations?.[annotations.configHash];

function isReady(runtime: AgentRuntime | undefined): boolean {
  const ready = runtime?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && runtime?.status?.observedGeneration === runtime?.metadata.generation;
}

/** Sees runtimes and Deployments change, without a poll; counts nothing against the operator's account. */
export async function watchFleet(users: Bed, fleet: Fleet) {
  const cache = users.newCache({ freeze: false });
  const runtimes: Watch<AgentRuntime> = { id: 'bench-runtimes', kind: kinds.agentRuntime };
  const deployments: Watch<Deployment> = { id: 'bench-deployments', kind: kinds.deployment };
  await Promise.all([cache.synced(runtimes), cache.synced(deployments)]);

  /** When each of the fleet first was as wanted, on the clock of `performance.now()`. */
  async function all(isSo: (key: ObjectKey) => boolean): Promise<ReadonlyMap<string, number>> {
    const times = new Map<string, number>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wanted = new Set(fleet.keys.map(textOf));
    const look = (key: ObjectKey): void => {
      const text = textOf(key);
      if (!wanted.has(text) || times.has(text) || !isSo(key)) return;
      times.set(text, performance.now());
      if (times.size === wanted.size) resolve();
    };
    const stops = [runtimes, deployments].map((watch) =>
      cache.subscribe(watch as Watch, ({ old, now }) => {
        const { namespace, name = '' } = (now ?? old)?.metadata ?? {};
        look({ namespace, name });
      }),
    );
    await promise;
    for (const stop of stops) stop();
    return times;
  }

  return {
    hashes: (): readonly (string | undefined)[] => fleet.keys.map((key) => hashOf(cache.get(deployments, key))),
    allEnrolled: () =>
      all((key) => hashOf(cache.get(deployments, key)) !== undefined && isReady(cache.get(runtimes, key))),
    allHashedOtherThan: (hash: string | undefined) =>
      all((key) => {
        const now = hashOf(cache.get(deployments, key));
        return now !== undefined && now !== hash;
      }),
    stop: () => cache.stop(),
  };
}

/** Creates every AgentRuntime and waits until all are Ready and their Deployments carry the hash. */
export async function enrol(users: Bed, fleet: Fleet): Promise<Enrolment> {
  const watching = await watchFleet(users, fleet);
  const sent = new Map<string, number>();
  const begun = performance.now();
  const enrolled = watching.allEnrolled();
  await inParallel(fleet.keys, writers, (key) => {
    sent.set(textOf(key), performance.now());
    return users.client.create(kinds.agentRuntime, agentRuntime(key));
  });
  const creating = (performance.now() - begun) / 1000;
  const times = await enrolled;
  await watching.stop();
  const latencies = [...times].map(([key, at]) => at - (sent.get(key) ?? begun));
  return { seconds: (Math.max(...times.values()) - begun) / 1000, creating, latencies };
}
