/** How many pods a workload has and should have, by its own status: what is known of pods that no watch of ours sees. */

import type { DaemonSet, Deployment, Job, StatefulSet, WorkloadCondition } from '../api/kubernetes.ts';
import type { KubeObject } from '../engine/types.ts';
import { daemonSetRollout, deploymentRollout, isObserved, isRolling, statefulSetRollout } from './rollout.ts';

export interface PodCounts {
  /** Pods it is to have now; of a Job: 1 while it is to run. 0: none is awaited. */
  readonly wanted: number;
  /** Pods it has, of whatever template. Those that have ended are not among them. */
  readonly existing: number;
  /** The object that should have made a pod by now and has not; its events say why. */
  readonly lacking: { readonly kind: string; readonly name: string } | undefined;
  /** In the API server's words why it refuses the next pod. Only a Deployment tells. */
  readonly refusal: string | undefined;
}

export const noPods: PodCounts = Object.freeze({ wanted: 0, existing: 0, lacking: undefined, refusal: undefined });

/** `refusal` only while pods of the present template are missing: an earlier one's may go on being refused. */
export function deploymentPods(deployment: Deployment): PodCounts {
  const { spec, status = {} } = deployment;
  const wanted = spec?.replicas ?? 1;
  const isSeen = isObserved(deployment, status.observedGeneration);
  const fresh = isSeen ? (status.updatedReplicas ?? 0) : 0;
  const isDue = deploymentRollout(deployment) === 'running' && fresh < wanted;
  const failure = isDue && isSeen ? holds(status.conditions, 'ReplicaFailure') : undefined;
  const refusal = failure === undefined ? undefined : plainRefusal(failure.message ?? '', deployment);
  const lacking = isDue && fresh === 0 ? itself(deployment) : undefined;
  return { wanted, existing: status.replicas ?? 0, lacking, refusal };
}

export function statefulSetPods(set: StatefulSet): PodCounts {
  const { replicas = 0, availableReplicas = 0, observedGeneration } = set.status ?? {};
  const wanted = set.spec?.replicas ?? 1;
  // With ordered starts nothing but an older pod that is not available holds the next one back.
  const isShort = isObserved(set, observedGeneration) && replicas < wanted && availableReplicas >= replicas;
  const lacks = wanted > 0 && (isShort || lacksRenewed(set, wanted));
  return { wanted, existing: replicas, lacking: lacks ? itself(set) : undefined, refusal: undefined };
}

/** The rollout is to make pods of the new template and has made none. */
function lacksRenewed(set: StatefulSet, wanted: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (!isRolling({ type }) || wanted <= (rollingUpdate?.partition ?? 0)) return false;
  const { updatedReplicas = 0, observedGeneration } = set.status ?? {};
  const isSeen = isObserved(set, observedGeneration);
  return statefulSetRollout(set) === 'running' && (!isSeen || updatedReplicas === 0);
}

export function daemonSetPods(set: DaemonSet): PodCounts {
  const { spec, status = {} } = set;
  const { desiredNumberScheduled: wanted = 0, currentNumberScheduled: existing = 0 } = status;
  const isRenewed = isRolling(spec?.updateStrategy) && daemonSetRollout(set) === 'running';
  const isSeen = isObserved(set, status.observedGeneration);
  const lacksNew = isRenewed && (!isSeen || (status.updatedNumberScheduled ?? 0) === 0);
  const lacks = wanted > 0 && (lacksNew || existing < wanted);
  return { wanted, existing, lacking: lacks ? itself(set) : undefined, refusal: undefined };
}

/** A Job between two tries has had pods, and lacks none. */
export function jobPods(job: Job): PodCounts {
  const { startTime, active = 0, succeeded = 0, failed = 0, conditions } = job.status ?? {};
  const hasEnded = ['Complete', 'Failed'].some((type) => holds(conditions, type) !== undefined);
  const isDue = job.spec?.suspend !== true && startTime !== undefined && !hasEnded;
  const hadNone = active + succeeded + failed === 0;
  return {
    wanted: isDue ? 1 : 0,
    existing: hasEnded ? 0 : active,
    lacking: isDue && hadNone ? itself(job) : undefined,
    refusal: undefined,
  };
}

/** Of several Jobs together. */
export function sumOf(counts: readonly PodCounts[]): PodCounts {
  return {
    wanted: counts.reduce((sum, { wanted }) => sum + wanted, 0),
    existing: counts.reduce((sum, { existing }) => sum + existing, 0),
    lacking: counts.find(({ lacking }) => lacking !== undefined)?.lacking,
    refusal: undefined,
  };
}

function itself({ kind, metadata }: KubeObject): NonNullable<PodCounts['lacking']> {
  return { kind, name: metadata.name ?? '' };
}

function holds(conditions: readonly WorkloadCondition[] | undefined, type: string): WorkloadCondition | undefined {
  return conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

const longestRefusal = 600;

/** One line, without the parts of a pod's name that differ from try to try, so that the message stands while the reason does. */
function plainRefusal(message: string, { metadata }: KubeObject): string {
  const name = (metadata.name ?? '').replaceAll(/[^a-z0-9-]/g, '.');
  const generated = new RegExp(`\\b${name}-[a-z0-9]{1,10}(-[a-z0-9]{1,5}|-)?(?![a-z0-9-])`, 'g');
  const line = message.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  const plain = line.replaceAll(generated, metadata.name ?? '');
  const bounded = plain.length <= longestRefusal ? plain : `${plain.slice(0, longestRefusal).toWellFormed()}…`;
  return bounded === '' ? 'no reason is given' : bounded;
}
