/** The running pods of a workload, found by owner: directly, or through its ReplicaSets or Jobs. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import type { Reader, Watch } from '../engine/types.ts';
import { rowOf } from './kinds.ts';
import { enrolledPods, enrolledReplicaSets } from './watches.ts';
import type { Workload } from './workload.ts';

/** Sorted by name. Pods that are being deleted or have ended do not run. */
export function podsOf(reader: Reader, workload: Workload): readonly Pod[] {
  const { namespace } = workload;
  return podOwnersOf(reader, workload)
    .flatMap((owner) => reader.list(enrolledPods, { namespace, index: { name: 'owner', value: owner } }))
    .filter(isRunning)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

export function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

/** The uids that a workload's pods can have as their controller's: its own, and those of its ReplicaSets or Jobs. */
export function podOwnersOf(reader: Reader, { row, namespace, uid }: Workload): readonly string[] {
  const between = betweens[row.kind];
  if (between === undefined) return [uid];
  const owned = reader.list(between, { namespace, index: { name: 'owner', value: uid } });
  return [...owned.map(({ metadata }) => metadata.uid ?? ''), uid];
}

const jobs: Watch | undefined = rowOf(kinds.job)?.watch;
const betweens: Readonly<Record<string, Watch | undefined>> = Object.freeze({
  Deployment: enrolledReplicaSets,
  CronJob: jobs,
});
