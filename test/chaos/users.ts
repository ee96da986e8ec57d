/** The people of the chaos run: developers and administrators who change everything all the time, and insist until it is done. */

import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { isConflict, isNotFound } from '../../runtime/engine/errors.ts';
import type { WorkloadKind } from '../../runtime/workload/kinds.ts';
import { kindOf } from '../support/operator-platform.ts';
import {
  createNamespace,
  namespaceDefaults,
  platformConfig,
  putConfigMap,
  runtimeFor,
  workload,
  type Written,
} from '../support/workload-objects.ts';
import { pause } from './pause.ts';
import type { Random } from './random.ts';

/** A workload of the run, and how often something was done for which its pod template may change. */
export interface Subject {
  readonly object: Written;
  readonly namespace: string;
  /** At most so many generations more than when it was created. */
  causes: number;
  hasRuntime: boolean;
}

export interface Users {
  readonly subjects: readonly Subject[];
  readonly namespaces: readonly string[];
  /** How often each thing was done; `given up` when the API server would not have it in time. */
  readonly done: ReadonlyMap<string, number>;
  /** Makes namespaces, workloads and the first AgentRuntimes. */
  begin(): Promise<void>;
  /** One act, chosen at random. */
  act(): Promise<void>;
  /** Every configuration is valid again, and every workload has its AgentRuntime or not, as it is. */
  settle(): Promise<void>;
}

const shapes: readonly WorkloadKind[] = [
  'Deployment',
  'Deployment',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'Job',
];
const acts = {
  enrol: 5,
  release: 2,
  retype: 3,
  'edit runtime': 1,
  'namespace defaults': 3,
  'platform config': 1,
  'edit workload': 3,
  'rollout restart': 2,
  'replace workload': 0.5,
};
const endpoints = ['one:4317', 'two:4317', 'three:4317'];

/** Makes it unless it is there, and leaves one that is there as it is. */
async function ensure(client: Client, object: Written): Promise<void> {
  await client.create(kindOf(object), object).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
}

/** The same for one that may still be on its way out: whoever writes to it then writes for nothing. */
async function ensureToStay(client: Client, runtime: Written): Promise<void> {
  await ensure(client, runtime);
  const { namespace, name = '' } = runtime.metadata;
  const { metadata } = await client.get(kinds.agentRuntime, { namespace, name });
  if (metadata.deletionTimestamp !== undefined) throw new Error('it is being deleted');
}

export function usersOf(
  client: Client,
  { runtimes, random }: { readonly runtimes: number; readonly random: Random },
): Users {
  const namespaces = Array.from({ length: Math.max(2, Math.ceil(runtimes / 25)) }, (_, at) => `chaos-${at}`);
  const subjects = Array.from({ length: Math.ceil(runtimes * 1.2) }, (_, at): Subject => {
    const namespace = namespaces[at % namespaces.length] ?? '';
    const kind = shapes[at % shapes.length] ?? 'Deployment';
    // A few have pods, which the stand-in for a kubelet makes ready: their rollouts take places and time.
    const replicas = kind === 'Deployment' && at % 10 === 0 ? 1 : 0;
    return { object: workload(kind, namespace, `w${at}`, { replicas }), namespace, causes: 0, hasRuntime: false };
  });
  const done = new Map<string, number>();
  const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);

  /** Tries for half a minute; whether it was done at last, or the last error. */
  const insist = async (what: string, act: () => Promise<unknown>): Promise<unknown> => {
    count(what);
    const end = performance.now() + 30_000;
    for (;;) {
      try {
        await act();
        return undefined;
      } catch (error) {
        if (performance.now() > end) {
          count(`${what}: given up`);
          return error;
        }
        await pause(isConflict(error) ? 20 : 200);
      }
    }
  };
  /** Once nobody does harm any more, giving up is a failure. */
  const succeed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const error = await insist(what, act);
    if (error !== undefined)
      throw new Error(`${what} fails for half a minute after the harm is over`, { cause: error });
  };
  const target = (kind: Written, { metadata }: Written) => ({
    kind: kindOf(kind),
    namespace: metadata.namespace,
    name: metadata.name ?? '',
  });
  const patch = (subject: Subject, body: object) =>
    client.mergePatch(target(subject.object, subject.object), { ...body });
  const remove = (object: Written) =>
    client.remove(target(object, object)).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  const enrol = (subject: Subject, spec: Partial<AgentRuntime['spec']> = {}) => {
    subject.causes += 1;
    subject.hasRuntime = true;
    const body = runtimeFor(subject.object, { type: random.pick(['agent', 'tool'] as const), ...spec });
    return insist('enrol', () => client.apply({ kind: kinds.agentRuntime, body }, { fieldManager: 'user' }));
  };
  const recount = (namespace?: string): void => {
    for (const subject of subjects) if (namespace === undefined || subject.namespace === namespace) subject.causes += 1;
  };
  const layer = (isBad: boolean): string =>
    isBad ? 'trace:\n  endpiont: x:1\n' : random.chance(0.2) ? '' : `trace:\n  endpoint: ${random.pick(endpoints)}\n`;

  const doing: Readonly<Record<keyof typeof acts, (subject: Subject) => Promise<unknown>>> = {
    enrol: (subject) => enrol(subject),
    release: (subject) => {
      subject.causes += 1;
      subject.hasRuntime = false;
      return insist('release', () => remove(runtimeFor(subject.object)));
    },
    retype: (subject) => enrol(subject),
    'edit runtime': (subject) =>
      enrol(subject, { trace: { sampling: { type: 'probabilistic', rate: random.next() } } }),
    'namespace defaults': ({ namespace }) => {
      recount(namespace);
      const text = layer(random.chance(0.15));
      return insist('namespace defaults', () => putConfigMap(client, namespaceDefaults(namespace, text)));
    },
    'platform config': () => {
      recount();
      const text = layer(random.chance(0.15));
      return insist('platform config', () => putConfigMap(client, platformConfig(text)));
    },
    'edit workload': (subject) => {
      const note = {
        annotations: { 'corp.example/edit': String(random.between(1, 1e9)) },
        labels: { team: random.pick(endpoints).slice(0, 3) },
      };
      return insist('edit workload', () => patch(subject, { metadata: note }));
    },
    'rollout restart': (subject) => {
      if (subject.object.kind === 'Job') return Promise.resolve();
      subject.causes += 1;
      const template = {
        metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': String(random.between(1, 1e9)) } },
      };
      const spec = subject.object.kind === 'CronJob' ? { jobTemplate: { spec: { template } } } : { template };
      return insist('rollout restart', () => patch(subject, { spec }));
    },
    'replace workload': async (subject) => {
      subject.causes += 1;
      await insist('replace workload', async () => {
        await remove(subject.object);
        await client.create(kindOf(subject.object), subject.object);
      });
    },
  };

  return {
    subjects,
    namespaces,
    done,
    begin: async () => {
      for (const namespace of namespaces) await createNamespace(client, namespace);
      for (const { object } of subjects) await client.create(kindOf(object), object);
      for (const subject of subjects.slice(0, Math.floor(runtimes / 2))) await enrol(subject, { type: 'agent' });
    },
    act: async () => {
      const what = random.weighted(acts);
      const enrolled = subjects.filter(({ hasRuntime }) => hasRuntime);
      const isFull = enrolled.length >= runtimes;
      if (what === 'enrol') {
        const free = subjects.filter(({ hasRuntime }) => !hasRuntime);
        if (!isFull && free.length > 0) await doing.enrol(random.pick(free));
        return;
      }
      await doing[what](random.pick(enrolled.length > 0 ? enrolled : subjects));
    },
    settle: async () => {
      recount();
      recount();
      // Whatever was given up is done now.
      for (const subject of subjects) {
        const body = runtimeFor(subject.object);
        if (subject.hasRuntime) await succeed('enrol', () => ensureToStay(client, body));
        else await succeed('release', () => remove(body));
        await succeed('replace workload', () => ensure(client, subject.object));
      }
      await succeed('platform config', () => putConfigMap(client, platformConfig('trace:\n  endpoint: last:4317\n')));
      for (const namespace of namespaces) {
        await succeed('namespace defaults', () =>
          putConfigMap(client, namespaceDefaults(namespace, 'mtls:\n  mode: disabled\n')),
        );
      }
    },
  };
}
