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
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (!isObserved(set, set.status?.observedGeneration)) return 'running';
  if (type !== 'RollingUpdate') return 'finished';
  const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = set.status ?? {};
  const wanted = set.spec?.replicas ?? 1;
  if (readyReplicas < wanted) return 'running';
  const partition = rollingUpdate?.partition ?? 0;
  if (partition > 0) return updatedReplicas >= wanted - partition ? 'finished' : 'running';
  return updateRevision === currentRevision || wanted === 0 ? 'finished' : 'running';
}

/** With `OnDelete` nothing restarts by itself. */
export function daemonSetRollout(set: DaemonSet): Rollout {
  if (!isObserved(set, set.status?.observedGeneration)) return 'running';
  if ((set.spec?.updateStrategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return 'finished';
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = set.status ?? {};
  return updatedNumberScheduled >= desiredNumberScheduled && numberAvailable >= desiredNumberScheduled
    ? 'finished'
    : 'running';
}

/** The status speaks of an older spec until the workload's own controller has seen the change. */
function isObserved(object: KubeObject, observed: number | undefined): boolean {
  return (object.metadata.generation ?? 0) <= (observed ?? 0);
}
