/** Changed ReplicaSets, Jobs and pods → the workloads they belong to, as values of the index `target`. */

import type { Change, KubeObject, Reader } from '../engine/types.ts';
import { workloadRows } from './kinds.ts';
import { controllerUid, ownerOf } from './owner.ts';
import { enrolledReplicaSets, targetIndex } from './watches.ts';

/** What controls this object: a ReplicaSet's Deployment, a Job's CronJob. */
export function ownerTargets({ metadata }: KubeObject): readonly string[] {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner === undefined ? [] : [targetIndex(owner)];
}

/** Of one that came, went or has another owner: a pod may be seen before the ReplicaSet through which it is found, and an orphan is adopted. */
export function replicaSetTargets({ old, now }: Change): readonly string[] {
  const isSame = old !== undefined && now !== undefined && controllerUid(old)[0] === controllerUid(now)[0];
  return isSame ? [] : [...new Set([old, now].flatMap((object) => (object === undefined ? [] : ownerTargets(object))))];
}

const jobRow = workloadRows.find(({ kind }) => kind === 'Job');

/** The workloads that a pod runs for, as it is and as it was: an orphan may be adopted. */
export function podTargets({ old, now }: Change, reader: Reader): readonly string[] {
  return [...new Set([old, now].flatMap((pod) => (pod === undefined ? [] : targetsOf(pod, reader))))];
}

/** Of a CronJob's pod its Job as well. */
function targetsOf(pod: KubeObject, reader: Reader): readonly string[] {
  const { namespace, ownerReferences } = pod.metadata;
  const owner = ownerOf(pod, (kind, name) => {
    if (kind === 'ReplicaSet') return reader.get(enrolledReplicaSets, { namespace, name });
    return jobRow === undefined ? undefined : reader.get(jobRow.watch, { namespace, name });
  });
  if ('none' in owner || owner.kind === undefined) return [];
  const job = ownerReferences?.find(({ kind }) => kind === 'Job');
  return [...(job === undefined ? [] : [targetIndex(job)]), `${owner.group ?? ''}/${owner.kind}/${owner.name}`];
}
