/** Whether a workload's pods have caught up with its template, as `kubectl rollout status` judges it. */

import type { DaemonSet, Deployment, StatefulSet } from '../api/kubernetes.ts';
import type { KubeObject } from '../engine/types.ts';

/** `running` also when a rollout is stuck: how long to wait is the caller's to say. */
export type Rollout = 'finished' | 'running';

/** A paused Deployment is `finished`: nothing of it restarts until a person resumes it. */
export function deploymentRollout(deployment: Deployment): Rollout {
  if (!isObserved(deployment, deployment.status?.observedGeneration)) return 'running';
  if (deployment.spec?.paused === true) return 'finished';
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = deployment.status ?? {};
  const wanted = deployment.spec?.replicas ?? 1;
  const done = updatedReplicas >= wanted && replicas <= updatedReplicas && availableReplicas >= updatedReplicas;
  return done ? 'finished' : 'running';
}

/** With a partition only the pods above it are expected to be new; with `OnDelete` none is, a person replaces them. */
export function statefulSetRollout(set: StatefulSet): Rollout {
  if (!isObserved(set, set.status?.observedGeneration)) return 'running';
  if (!isRolling(set.spec?.updateStrategy)) return 'finished';
  const wanted = set.spec?.replicas ?? 1;
  const areReady = (set.status?.readyReplicas ?? 0) >= wanted;
  return areReady && isUpdated(set, wanted) ? 'finished' : 'running';
}

function isUpdated(set: StatefulSet, wanted: number): boolean {
  const { updatedReplicas = 0, currentRevision, updateRevision } = set.status ?? {};
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition;
  if (partition !== undefined) return updatedReplicas >= wanted - partition;
  return wanted === 0 || updateRevision === currentRevision;
}

/** With `OnDelete` nothing restarts by itself. */
export function daemonSetRollout(set: DaemonSet): Rollout {
  if (!isObserved(set, set.status?.observedGeneration)) return 'running';
  if (!isRolling(set.spec?.updateStrategy)) return 'finished';
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = set.status ?? {};
  return updatedNumberScheduled >= desiredNumberScheduled && numberAvailable >= desiredNumberScheduled
    ? 'finished'
    : 'running';
}

/** `RollingUpdate`, which is also what an absent type means. */
export function isRolling(strategy: { readonly type?: string | undefined } | undefined): boolean {
  return (strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

/** The status speaks of an older spec until the workload's own controller has seen the change. */
export function isObserved(object: KubeObject, observed: number | undefined): boolean {
  return (object.metadata.generation ?? 0) <= (observed ?? 0);
}
