/** AgentRuntimes with their pods → the lines of one screen, trouble first. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import type { KubeObject } from '../engine/types.ts';
import { matches, ownerOf } from '../workload/owner.ts';

/** What was read of a cluster. */
export interface ClusterView {
  readonly runtimes: readonly AgentRuntime[];
  /** Pods with our type label. */
  readonly pods: readonly Pod[];
  /** ReplicaSets with our type label, and Jobs where a CronJob is a target. */
  readonly between: readonly KubeObject[];
}

/** A runtime's pods by the configuration they were built from. */
interface PodCount {
  readonly current: number;
  readonly other: number;
  readonly bare: readonly string[];
}

interface Row {
  readonly cells: readonly string[];
  readonly troubles: readonly string[];
}

const header = ['NAMESPACE', 'NAME', 'TYPE', 'TARGET', 'PHASE', 'READY', 'CURRENT', 'OTHER', 'BARE'];
/** Beyond a screen: sound runtimes are counted, not listed. */
const mostRows = 40;
const mostTroubleLength = 240;

/** The screen. CURRENT, OTHER and BARE count pods: of the runtime's hash, of another hash, without our containers. */
export function statusLines(view: ClusterView): readonly string[] {
  const { runtimes } = view;
  if (runtimes.length === 0) return ['There are no AgentRuntimes.'];
  const pods = podsByRuntime(view);
  const rows = runtimes.map((runtime) => rowOf(runtime, countOf(runtime, pods.get(runtime) ?? [])));
  const troubled = rows.filter(({ troubles }) => troubles.length > 0).sort(byName);
  const sound = rows.filter(({ troubles }) => troubles.length === 0).sort(byName);
  const shown = [...troubled, ...sound].slice(0, Math.max(mostRows, troubled.length));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...shown.map(({ cells }) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const hidden = rows.length - shown.length;
  return [
    line(header),
    ...shown.flatMap(({ cells, troubles }) => [line(cells), ...troubles.map((trouble) => `  ! ${trouble}`)]),
    ...(hidden > 0 ? [`… and ${hidden} more without trouble`] : []),
    `${rows.length} AgentRuntimes, ${troubled.length} with trouble`,
  ];
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

function countOf({ status }: AgentRuntime, pods: readonly Pod[]): PodCount {
  const living = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
  const marked = living.filter(({ metadata }) => metadata.annotations?.[annotations.injected] !== undefined);
  const current = marked.filter(
    ({ metadata }) => metadata.annotations?.[annotations.configHash] === status?.configHash,
  );
  const bare = living.filter((pod) => !marked.includes(pod)).map(({ metadata }) => metadata.name ?? '');
  return { current: current.length, other: marked.length - current.length, bare: bare.sort() };
}

function rowOf(runtime: AgentRuntime, { current, other, bare }: PodCount): Row {
  const { metadata, spec, status } = runtime;
  const { kind, name } = spec.targetRef;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? '-';
  const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? '-') : 'Deleting';
  const counts = [current, other, bare.length].map(String);
  return {
    cells: [metadata.namespace ?? '', metadata.name ?? '', spec.type, `${kind}/${name}`, phase, ready, ...counts],
    troubles: troublesOf(runtime, bare),
  };
}

/** Switched off by somebody: no trouble. */
const deliberate: ReadonlySet<string> = new Set(['SpiffeDisabled', 'InjectionOff']);

/** Each sentence once: `Ready` repeats what another condition says. */
function troublesOf({ status }: AgentRuntime, bare: readonly string[]): readonly string[] {
  if (status?.conditions === undefined) return ['the operator has not looked at it yet; is it running?'];
  const failing = status.conditions.filter(
    (condition) => condition.status === 'False' && !deliberate.has(condition.reason),
  );
  const sentences = new Map(failing.map(({ message, type, reason }) => [message, `${type} (${reason}): ${message}`]));
  const isReported = failing.some(({ reason }) => reason === 'PodsWithoutSidecars');
  const bareLine = `pods without sidecars: ${bare.slice(0, 5).join(', ')}${bare.length > 5 ? ` and ${bare.length - 5} more` : ''}`;
  return [...sentences.values(), ...(bare.length > 0 && !isReported ? [bareLine] : [])].map(shortened);
}

function shortened(text: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, ' ');
  return line.length <= mostTroubleLength ? line : `${line.slice(0, mostTroubleLength)}…`;
}

function byName(a: Row, b: Row): number {
  return a.cells.slice(0, 2).join('/') < b.cells.slice(0, 2).join('/') ? -1 : 1;
}
