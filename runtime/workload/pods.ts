/** The pods of a workload: those our watch sees, found by owner, and how many there are by the workload's own status. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { annotations, containers, labels } from '../api/names.ts';
import type { KubeObject, Reader, Watch } from '../engine/types.ts';
import { rowOf } from './kinds.ts';
import { type PodCounts, sumOf } from './pod-counts.ts';
import { enrolledPods, enrolledReplicaSets } from './watches.ts';
import { type Workload, workloadOf } from './workload.ts';

/** Sorted by name. Pods that are being deleted or have ended do not run. */
export function podsOf(reader: Reader, workload: Workload): readonly Pod[] {
  return labelledPods(reader, workload)
    .filter(isRunning)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/**
 * How many pods the workload has that our watch does not see: they were made before its template was labelled. Pods that are just going
 * count as seen, since the workload's status may lag behind them.
 */
export function unseenPods(reader: Reader, workload: Workload, { existing }: PodCounts): number {
  const seen = labelledPods(reader, workload).filter(({ status }) => !hasEnded(status?.phase)).length;
  return Math.max(0, existing - seen);
}

export function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && !hasEnded(status?.phase);
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function labelledPods(reader: Reader, workload: Workload): readonly Pod[] {
  const { namespace } = workload;
  return podOwnersOf(reader, workload).flatMap((owner) =>
    reader.list(enrolledPods, { namespace, index: { name: 'owner', value: owner } }),
  );
}

/**
 * The uids that a workload's pods have as their controller's: those of its ReplicaSets or Jobs, else its own. A pod that names a Deployment
 * or a CronJob itself was made by somebody else.
 */
export function podOwnersOf(reader: Reader, { row, namespace, uid }: Workload): readonly string[] {
  const between = betweens[row.kind];
  if (between === undefined) return [uid];
  const owned = reader.list(between, { namespace, index: { name: 'owner', value: uid } });
  return owned.map(({ metadata }) => metadata.uid ?? '');
}

const jobRow = rowOf(kinds.job);
const betweens: Readonly<Record<string, Watch | undefined>> = Object.freeze({
  Deployment: enrolledReplicaSets,
  CronJob: jobRow?.watch,
});

/** By the status of the workload, or of a CronJob's Jobs. */
export function podCountsOf(reader: Reader, workload: Workload): PodCounts {
  const { row, object, namespace, uid } = workload;
  if (row.kind !== 'CronJob' || jobRow === undefined) return row.pods(object);
  return cronJobPods(reader.list(jobRow.watch, { namespace, index: { name: 'owner', value: uid } }));
}

/** Of a CronJob's Jobs. A Job from before the enrolment is to make no pod of ours; the pods it has count. */
export function cronJobPods(jobs: readonly KubeObject[]): PodCounts {
  if (jobRow === undefined) return sumOf([]);
  return sumOf(
    jobs.map((job) => {
      const counts = jobRow.pods(job);
      const isOurs = workloadOf(jobRow, job).templateLabels[labels.type] !== undefined;
      return isOurs ? counts : { ...counts, wanted: 0, lacking: undefined };
    }),
  );
}

const ourContainers: readonly string[] = Object.values(containers);

/**
 * The pod carries our marker and exactly the containers it names, and is one that the injector is asked about. Whether those containers
 * are what they are called, the injector has judged when it let the pod in.
 */
export function isInjected({ metadata, spec }: Pod): boolean {
  const marker = metadata.annotations?.[annotations.injected];
  if (marker === undefined || metadata.labels?.[labels.inject] === 'disabled') return false;
  const present = [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name);
  const claimed = marker.split(',').map((name) => name.trim());
  const ours = present.filter((name) => ourContainers.includes(name));
  return ours.length > 0 && ours.length === claimed.length && claimed.every((name) => ours.includes(name));
}
