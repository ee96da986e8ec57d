/** Changed object, old and new → the AgentRuntimes it concerns. A change of nothing that is read or reported concerns none. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { ConfigMap, Pod } from '../api/kubernetes.ts';
import { annotations, labels } from '../api/names.ts';
import type { ConfigWatches } from '../config/read.ts';
import type { Change, KubeObject, ObjectKey, Reader, Trigger, Watch } from '../engine/types.ts';
import { isNewData, keyOf, namespaceOf, trigger } from '../workload/trigger.ts';
import { lookUpTarget } from '../workload/find.ts';
import { type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import { ownerTargets, podTargets, replicaSetTargets } from '../workload/belonging.ts';
import { controllerUid } from '../workload/owner.ts';
import { isRunning } from '../workload/pods.ts';
import { podSecurityLabel } from '../workload/pod-security.ts';
import {
  agentRuntimes,
  csiDrivers,
  enrolledPods,
  enrolledReplicaSets,
  namespaces,
  serviceAccounts,
  targetIndex,
} from '../workload/watches.ts';
import { workloadOf } from '../workload/workload.ts';
import { isOurs } from './needs.ts';
import { podFacts } from './pods.ts';
import { decisiveParts } from './template-refusal.ts';

/** All of the controller's triggers. `authBridge` is the watch on the namespaces' ConfigMaps that the controller makes. */
export function triggers(config: ConfigWatches, authBridge: Watch<ConfigMap>): readonly Trigger[] {
  return [
    trigger(agentRuntimes, siblings),
    trigger(config.platform, (change, reader) => (isNewData(change) ? everyRuntime(reader) : [])),
    trigger(config.gates, (change, reader) => (isNewData(change) ? everyRuntime(reader) : [])),
    trigger(config.defaults, (change, reader) => (isNewData(change) ? runtimesOf(reader, change) : [])),
    trigger(authBridge, (change, reader) => (isForeignWrite(change) ? runtimesOf(reader, change) : [])),
    ...workloadRows.map((row) => trigger(row.watch, (change, reader) => ofWorkload(row, change, reader))),
    trigger(enrolledReplicaSets, (change, reader) =>
      targetingAny(reader, namespaceOf(change), replicaSetTargets(change)),
    ),
    trigger(enrolledPods, ofPod),
    trigger(namespaces, ofNamespace),
    trigger(csiDrivers, ({ old, now }, reader) =>
      (old === undefined) === (now === undefined) ? [] : everyRuntime(reader),
    ),
    trigger(serviceAccounts, ofServiceAccount),
  ];
}

export function everyRuntime(reader: Reader): readonly ObjectKey[] {
  return reader.list(agentRuntimes).map(keyOf);
}

function runtimesOf(reader: Reader, change: Change): readonly ObjectKey[] {
  return reader.list(agentRuntimes, { namespace: namespaceOf(change) }).map(keyOf);
}

function targeting(reader: Reader, namespace: string | undefined, target: string): readonly ObjectKey[] {
  return reader.list(agentRuntimes, { namespace, index: { name: 'target', value: target } }).map(keyOf);
}

function targetingAny(reader: Reader, namespace: string | undefined, targets: readonly string[]): readonly ObjectKey[] {
  return targets.flatMap((target) => targeting(reader, namespace, target));
}

/** Others on the old and on the new target: who loses or wins it follows from who else is there. */
function siblings({ old, now }: Change<AgentRuntime>, reader: Reader): readonly ObjectKey[] {
  const isSame =
    old?.metadata.generation === now?.metadata.generation &&
    old?.metadata.deletionTimestamp === now?.metadata.deletionTimestamp;
  if (old !== undefined && now !== undefined && isSame) return [];
  const targets = new Set(
    [old, now].flatMap((runtime) => (runtime?.spec?.targetRef ? [targetIndex(runtime.spec.targetRef)] : [])),
  );
  const namespace = namespaceOf({ old, now });
  const name = (now ?? old)?.metadata.name;
  return [...targets].flatMap((target) => targeting(reader, namespace, target)).filter((key) => key.name !== name);
}

/** That we made it is no news to anybody. */
function isForeignWrite({ old, now }: Change<ConfigMap>): boolean {
  if (now === undefined) return true;
  if (old === undefined) return !isOurs(now);
  return isOurs(old) !== isOurs(now) || text(old.data) !== text(now.data);
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

function ofWorkload(row: WorkloadRow, change: Change, reader: Reader): readonly ObjectKey[] {
  const { old, now } = change;
  const object = now ?? old;
  if (object === undefined || (old !== undefined && now !== undefined && look(row, old) === look(row, now))) return [];
  const { name = '', namespace } = object.metadata;
  return [
    ...targeting(reader, namespace, `${row.group}/${row.kind}/${name}`),
    ...targetingAny(reader, namespace, ownerTargets(object)),
  ];
}

/** Everything this controller reads of a workload, as one text. */
function look(row: WorkloadRow, object: KubeObject): string {
  const workload = workloadOf(row, object);
  const { spec } = object as { readonly spec?: { readonly replicas?: number } };
  const { metadata } = object;
  return text([
    metadata.uid,
    metadata.deletionTimestamp,
    workload.labels,
    metadata.annotations?.[annotations.skills],
    workload.templateLabels,
    workload.templateAnnotations[annotations.configHash],
    workload.serviceAccount ?? '',
    decisiveParts(workload),
    workload.rollout,
    row.pods(object),
    spec?.replicas,
    row.canLabelTemplate(object),
  ]);
}

function ofPod({ old, now }: Change<Pod>, reader: Reader): readonly ObjectKey[] {
  const pod = now ?? old;
  if (pod === undefined || reported(old) === reported(now)) return [];
  return targetingAny(reader, pod.metadata.namespace, podTargets({ old, now }, reader));
}

/** What status says of a pod, and whose it is; nothing for one that does not run. */
function reported(pod: Pod | undefined): string {
  return pod === undefined || !isRunning(pod) ? '' : text([podFacts(pod), controllerUid(pod)]);
}

const namespaceLabels: readonly string[] = [podSecurityLabel, labels.enabled];

function ofNamespace({ old, now }: Change, reader: Reader): readonly ObjectKey[] {
  const name = (now ?? old)?.metadata.name;
  const facts = (object: KubeObject | undefined) =>
    text([object?.metadata.deletionTimestamp, ...namespaceLabels.map((label) => object?.metadata.labels?.[label])]);
  if (name === undefined || facts(old) === facts(now)) return [];
  return reader.list(agentRuntimes, { index: { name: 'namespace', value: name } }).map(keyOf);
}

/** Only a ServiceAccount that vanishes leaves something to do. */
function ofServiceAccount({ old, now }: Change, reader: Reader): readonly ObjectKey[] {
  if (now !== undefined || old === undefined) return [];
  const { namespace = '', name } = old.metadata;
  return reader
    .list(agentRuntimes, { namespace })
    .filter(({ spec }) => {
      const target = spec?.targetRef === undefined ? undefined : lookUpTarget(reader, namespace, spec.targetRef);
      return target !== undefined && 'found' in target && target.found.serviceAccount === name;
    })
    .map(keyOf);
}
