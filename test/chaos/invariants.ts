/** What must hold when the harm is over: each complaint is one sentence, and no complaint means converged. */

import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, finalizer, install, labels, managedBy } from '../../runtime/api/names.ts';
import { configHash } from '../../runtime/config/config-hash.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import { liveReader, type Client } from '../../runtime/engine/client.ts';
import type { KubeObject, Live, LiveReader, Reader } from '../../runtime/engine/types.ts';
import { carriedBy, nothingCarried, standingOf } from '../support/enrolments.ts';
import { workloadKinds } from '../support/workload-objects.ts';
import type { Subject } from './users.ts';

const noFile: Live<FileText> = { current: { text: undefined, path: '-' }, subscribe: () => () => {} };

interface World {
  readonly runtimes: readonly AgentRuntime[];
  readonly workloads: ReadonlyMap<string, KubeObject>;
  /** The hash that the layers of a namespace make for a type. */
  readonly hashOf: (namespace: string, type: 'agent' | 'tool') => string;
}

/** Everything that is wrong now, in the namespaces of the run. */
export async function complaints(
  client: Client,
  namespaces: readonly string[],
  subjects: readonly Subject[],
): Promise<readonly string[]> {
  const live = liveReader(client);
  const world = await read(live, namespaces);
  const byTarget = new Map(
    world.runtimes.map((runtime) => [keyOf(runtime.metadata.namespace, runtime.spec.targetRef), runtime]),
  );
  return [
    ...subjects.flatMap((subject) => ofWorkload(subject, world, byTarget)),
    ...world.runtimes.flatMap((runtime) => ofRuntime(runtime)),
    ...subjects
      .filter(({ object, hasRuntime }) => hasRuntime !== byTarget.has(keyOf(object.metadata.namespace, nameOf(object))))
      .map(({ object }) => `${textOf(object)}: its AgentRuntime is not as its user left it`),
    ...(await ofPods(live, namespaces)),
  ];
}

const nameOf = ({ kind, metadata }: KubeObject) => ({ kind, name: metadata.name ?? '' });
const keyOf = (
  namespace: string | undefined,
  { kind, name }: { readonly kind: string; readonly name: string },
): string => `${namespace ?? ''}/${kind}/${name}`;
const textOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

async function read(live: LiveReader, namespaces: readonly string[]): Promise<World> {
  const isOurs = ({ metadata }: KubeObject): boolean => namespaces.includes(metadata.namespace ?? '');
  const runtimes = (await live.list(kinds.agentRuntime)).filter(isOurs);
  const lists = await Promise.all(
    Object.entries(workloadKinds).map(async ([kind, of]) =>
      (await live.list(of)).filter(isOurs).map((object) => ({ ...object, kind, apiVersion: of.apiVersion })),
    ),
  );
  const workloads = new Map(
    lists.flat().map((object) => [keyOf(object.metadata.namespace, nameOf(object)), object as KubeObject]),
  );
  const watches = configWatches(install.namespace);
  const maps = await live.list(kinds.configMap);
  const reader = {
    get: (watch: { readonly namespace?: string; readonly name?: string }) =>
      maps.find(({ metadata }) => metadata.namespace === watch.namespace && metadata.name === watch.name),
    list: (_: unknown, where: { readonly namespace?: string } = {}) =>
      maps.filter(
        ({ metadata }) =>
          metadata.labels?.[labels.defaults] === 'true' &&
          (where.namespace === undefined || metadata.namespace === where.namespace),
      ),
  } as unknown as Reader;
  const layers = createLayerReader({
    watches,
    operatorNamespace: install.namespace,
    configFile: noFile,
    gatesFile: noFile,
  });
  return { runtimes, workloads, hashOf: (namespace, type) => configHash(layers.read(reader, namespace), type) };
}

function ofWorkload(
  { object, causes }: Subject,
  { workloads, hashOf }: World,
  byTarget: ReadonlyMap<string, AgentRuntime>,
): readonly string[] {
  const { namespace = '' } = object.metadata;
  const live = workloads.get(keyOf(namespace, nameOf(object)));
  if (live === undefined) return [`${textOf(object)} is gone`];
  const runtime = byTarget.get(keyOf(namespace, nameOf(object)));
  const carried = carriedBy(live);
  const wanted =
    runtime === undefined
      ? nothingCarried
      : {
          label: runtime.spec.type,
          templateLabel: runtime.spec.type,
          hash: hashOf(namespace, runtime.spec.type),
          managedBy,
        };
  const generation = live.metadata.generation ?? 0;
  return [
    ...(isRolledOut(live) ? [] : [`${textOf(live)} is still being rolled out`]),
    ...(JSON.stringify(carried) === JSON.stringify(wanted)
      ? []
      : [`${textOf(live)} carries ${JSON.stringify(carried)}, wanted is ${JSON.stringify(wanted)}`]),
    ...(generation <= 1 + causes
      ? []
      : [`${textOf(live)} has generation ${generation} after ${causes} causes: it was restarted without need`]),
  ];
}

/** Until then its pods change, and what is said of it with them. Of a Deployment alone: the others of the run have no pods. */
function isRolledOut(live: KubeObject): boolean {
  if (live.kind !== 'Deployment') return true;
  const { spec, status = {}, metadata } = live as KubeObject & Deployment;
  const { replicas = 1 } = spec;
  const counts = [status.replicas, status.updatedReplicas, status.availableReplicas];
  return status.observedGeneration === metadata.generation && counts.every((count = 0) => count === replicas);
}

interface Deployment {
  readonly spec: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

function ofRuntime(runtime: AgentRuntime): readonly string[] {
  const { metadata, status } = runtime;
  const standing = standingOf(runtime);
  return [
    ...(metadata.deletionTimestamp === undefined
      ? []
      : [`${textOf(runtime)} is deleted and still has finalizers ${JSON.stringify(metadata.finalizers ?? [])}`]),
    ...(metadata.finalizers?.filter((one) => one === finalizer).length === 1
      ? []
      : [`${textOf(runtime)} has finalizers ${JSON.stringify(metadata.finalizers ?? [])}`]),
    ...(standing === 'Active/Configured' ? [] : [`${textOf(runtime)} says ${standing}: ${status?.message ?? ''}`]),
    ...(status?.observedGeneration === metadata.generation
      ? []
      : [
          `${textOf(runtime)}: its status is of generation ${status?.observedGeneration ?? 0}, not ${metadata.generation ?? 0}`,
        ]),
  ];
}

/** Whatever got in while webhooks came and went is injected, from the configuration of its template. */
async function ofPods(live: LiveReader, namespaces: readonly string[]): Promise<readonly string[]> {
  const pods = await live.list(kinds.pod);
  return pods
    .filter(
      ({ metadata }) => namespaces.includes(metadata.namespace ?? '') && metadata.labels?.[labels.type] === 'agent',
    )
    .filter(({ metadata }) => metadata.annotations?.[annotations.injected] === undefined)
    .map((pod) => `${textOf(pod)} has the label and was not injected`);
}
