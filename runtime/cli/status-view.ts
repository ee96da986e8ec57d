/** AgentRuntimes with their pods → the lines of one screen: errors first, then what waits, then warnings. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { KubeObject } from '../engine/types.ts';
import { rowOf } from '../workload/kinds.ts';
import { matches, ownerOf } from '../workload/owner.ts';
import { cronJobPods, isInjected } from '../workload/pods.ts';
import { targetIndex } from '../workload/watches.ts';
import { columns } from './columns.ts';

/** What was read of a cluster. */
export interface ClusterView {
  readonly runtimes: readonly AgentRuntime[];
  /** Pods with our type label. */
  readonly pods: readonly Pod[];
  /** ReplicaSets with our type label, and Jobs where a CronJob is a target. */
  readonly between: readonly KubeObject[];
  /** Workloads that are targets: their status counts pods that carry no label of ours. */
  readonly workloads: readonly KubeObject[];
  /** Kinds of targets that could not be read, in the plural. */
  readonly unread: readonly string[];
}

/** A runtime's pods by the configuration they were built from. */
interface PodCount {
  readonly current: number;
  readonly other: number;
  /** Without sidecars, by name. */
  readonly bare: readonly string[];
  /** From before the enrolment: their number is all that is known of them. */
  readonly older: number;
}

/** In the order of the screen. */
const ranks = ['Error', 'Pending', 'warning', 'sound'] as const;
type Rank = (typeof ranks)[number];

interface Row {
  readonly cells: readonly string[];
  readonly troubles: readonly string[];
  readonly rank: Rank;
}

const header = ['NAMESPACE', 'NAME', 'TYPE', 'TARGET', 'PHASE', 'READY', 'CURRENT', 'OTHER', 'BARE'];
/** Beyond a screen errors and what waits are listed; the others are counted. */
const mostRows = 40;
const mostTroubleLength = 240;

/** The screen. CURRENT, OTHER and BARE count pods: of the runtime's hash, of another hash, without our containers. */
export function statusLines(view: ClusterView): readonly string[] {
  const { runtimes } = view;
  if (runtimes.length === 0) return ['There are no AgentRuntimes.'];
  const pods = podsByRuntime(view);
  const existing = existingPods(view);
  const rows = runtimes.map((runtime) => {
    const { metadata, spec } = runtime;
    const count = existing.get(keyOf(metadata.namespace, spec.targetRef)) ?? 0;
    return rowOfRuntime(runtime, countOf(runtime, pods.get(runtime) ?? [], count));
  });
  const of = Map.groupBy(rows.sort(byName), ({ rank }) => rank);
  const sorted = ranks.flatMap((rank) => of.get(rank) ?? []);
  const count = (rank: Rank) => of.get(rank)?.length ?? 0;
  const shown = sorted.slice(0, Math.max(mostRows, count('Error') + count('Pending')));
  const line = columns([header, ...shown.map(({ cells }) => cells)]);
  return [
    line(header),
    ...shown.flatMap(({ cells, troubles }) => [line(cells), ...troubles.map((trouble) => `  ! ${trouble}`)]),
    ...hiddenLines(sorted.slice(shown.length)),
    ...view.unread.map((kind) => `${kind} cannot be read: BARE leaves out their pods from before the enrolment`),
    summary(rows.length, count),
  ];
}

function hiddenLines(hidden: readonly Row[]): readonly string[] {
  const sound = hidden.filter(({ rank }) => rank === 'sound').length;
  const warned = hidden.length - sound;
  return [
    ...(warned > 0 ? [`… and ${warned} more with warnings`] : []),
    ...(sound > 0 ? [`… and ${sound} more without trouble`] : []),
  ];
}

function summary(all: number, count: (rank: Rank) => number): string {
  const parts = [
    [count('Error'), 'in error'],
    [count('Pending'), 'waiting'],
    [count('warning'), 'with warnings'],
  ] as const;
  const troubled = parts.reduce((sum, [number]) => sum + number, 0);
  const named = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return `${all} AgentRuntimes, ${troubled} with trouble${troubled === 0 ? '' : ` (${named.join(', ')})`}`;
}

function podsByRuntime({ runtimes, pods, between }: ClusterView): ReadonlyMap<AgentRuntime, readonly Pod[]> {
  const key = (kind: string, namespace: string | undefined, name: string | undefined) => `${kind}/${namespace}/${name}`;
  const known = new Map(
    between.map((object) => [key(object.kind, object.metadata.namespace, object.metadata.name), object]),
  );
  const byTarget = Map.groupBy(runtimes, ({ metadata, spec }) => `${metadata.namespace}/${spec.targetRef.name}`);
  const found = new Map<AgentRuntime, Pod[]>();
  for (const pod of pods) {
    const { namespace } = pod.metadata;
    const owner = ownerOf(pod, (kind, name) => known.get(key(kind, namespace, name)));
    if ('none' in owner) continue;
    for (const runtime of byTarget.get(`${namespace}/${owner.name}`) ?? []) {
      if (matches(owner, runtime.spec.targetRef)) found.set(runtime, [...(found.get(runtime) ?? []), pod]);
    }
  }
  return found;
}

function countOf({ status }: AgentRuntime, pods: readonly Pod[], existing: number): PodCount {
  const living = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
  const marked = living.filter(isInjected);
  const current = marked.filter(
    ({ metadata }) => metadata.annotations?.[annotations.configHash] === status?.configHash,
  );
  const bare = living.filter((pod) => !marked.includes(pod)).map(({ metadata }) => metadata.name ?? '');
  return {
    current: current.length,
    other: marked.length - current.length,
    bare: bare.sort(),
    older: Math.max(0, existing - living.length),
  };
}

/** How many pods each workload has by its own status; a CronJob's are its Jobs'. */
function existingPods({ workloads, between }: ClusterView): ReadonlyMap<string, number> {
  const jobs = Map.groupBy(
    between.filter(({ kind }) => kind === 'Job'),
    ({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid,
  );
  return new Map(
    workloads.flatMap((workload) => {
      const { apiVersion, kind, metadata } = workload;
      const { namespace, name = '', uid } = metadata;
      const row = rowOf(workload);
      if (row === undefined) return [];
      const { existing } = row.kind === 'CronJob' ? cronJobPods(jobs.get(uid) ?? []) : row.pods(workload);
      return [[keyOf(namespace, { apiVersion, kind, name }), existing]];
    }),
  );
}

function keyOf(namespace: string | undefined, target: TargetRef): string {
  return `${namespace} ${targetIndex(target)}`;
}

function rowOfRuntime(runtime: AgentRuntime, pods: PodCount): Row {
  const { metadata, spec, status } = runtime;
  const { kind, name } = spec.targetRef;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '-';
  const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? '-') : 'Deleting';
  const counts = [pods.current, pods.other, pods.bare.length + pods.older].map(String);
  const troubles = troublesOf(runtime, pods);
  return {
    cells: [metadata.namespace ?? '', metadata.name ?? '', spec.type, `${kind}/${name}`, phase, ready, ...counts],
    troubles,
    rank: rankOf(status?.phase, ready, troubles.length),
  };
}

/** One that the operator has not looked at yet waits. */
function rankOf(phase: string | undefined, ready: string, troubles: number): Rank {
  if (phase === 'Error') return 'Error';
  if (phase !== 'Active' || ready === 'False') return 'Pending';
  return troubles > 0 ? 'warning' : 'sound';
}

/** Chosen by somebody: no trouble. */
const deliberate: ReadonlySet<string> = new Set(['SpiffeDisabled', 'InjectionOff', 'ExplicitProxy']);

/** Each sentence once: `Ready` repeats what another condition says. */
function troublesOf({ status }: AgentRuntime, { bare, older }: PodCount): readonly string[] {
  if (status?.conditions === undefined) return ['the operator has not looked at it yet; is it running?'];
  const failing = status.conditions.filter(
    (condition) => condition.status === 'False' && !deliberate.has(condition.reason),
  );
  const sentences = new Map(failing.map(({ message, type, reason }) => [message, `${type} (${reason}): ${message}`]));
  const isReported = status.conditions.some(({ reason }) => tellsOfPods.has(reason));
  const named = `${bare.slice(0, 5).join(', ')}${bare.length > 5 ? ` and ${bare.length - 5} more` : ''}`;
  const parts = [...(bare.length > 0 ? [named] : []), ...(older > 0 ? [`${older} from before the enrolment`] : [])];
  const line = parts.length > 0 && !isReported ? [`pods without sidecars: ${parts.join(', ')}`] : [];
  return [...sentences.values(), ...line].map(shortened);
}

/** Reasons of `PodsInjected` that say it themselves, or that say it is meant. */
const tellsOfPods: ReadonlySet<string> = new Set([
  'PodsWithoutSidecars',
  'PodsRefused',
  'RolloutStalled',
  'InjectionOff',
]);

function shortened(text: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, ' ');
  return line.length <= mostTroubleLength ? line : `${line.slice(0, mostTroubleLength)}…`;
}

function byName(a: Row, b: Row): number {
  return a.cells.slice(0, 2).join('/') < b.cells.slice(0, 2).join('/') ? -1 : 1;
}
