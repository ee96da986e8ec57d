/** Changed object, old and new → the AgentCards it concerns. A change of nothing that is read or reported concerns none. */

import type { AgentCard } from '../api/agent-card.ts';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { ConfigMap, EndpointSlice, Pod, Service } from '../api/kubernetes.ts';
import { labels } from '../api/names.ts';
import type { ConfigWatches } from '../config/read.ts';
import type { Change, KubeObject, ObjectKey, Reader, Trigger, Watch } from '../engine/types.ts';
import { isNewData, keyOf, namespaceOf, trigger } from '../workload/trigger.ts';
import { agentCards, everyCard } from '../workload/cards.ts';
import { serviceLabel } from '../workload/keep-service.ts';
import { type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import { ownerTargets, podTargets, replicaSetTargets } from '../workload/belonging.ts';
import { controllerUid } from '../workload/owner.ts';
import { isRunning } from '../workload/pods.ts';
import { selects } from '../workload/services.ts';
import {
  agentRuntimes,
  endpointSlices,
  enrolledPods,
  enrolledReplicaSets,
  services,
  targetIndex,
} from '../workload/watches.ts';
import { workloadOf } from '../workload/workload.ts';
import { verifiedPods } from './bearers.ts';

export interface TriggerOptions {
  /** Where the platform configuration is; its trust domain counts when the operator was told none. */
  readonly config: ConfigWatches;
  /** Undefined where signatures are not verified. */
  readonly trustBundle: Watch<ConfigMap> | undefined;
}

/** All of the controller's triggers. */
export function triggers({ config, trustBundle }: TriggerOptions): readonly Trigger[] {
  return [
    trigger(agentCards, siblings),
    trigger(agentRuntimes, ofRuntime),
    ...workloadRows.map((row) => trigger(row.watch, (change, reader) => ofWorkload(row, change, reader))),
    trigger(enrolledReplicaSets, (change, reader) =>
      targetingAny(reader, namespaceOf(change), replicaSetTargets(change)),
    ),
    trigger(enrolledPods, (change, reader) => (isSame(change, seenOfPod) ? [] : ofPod(change, reader))),
    trigger(verifiedPods, (change, reader) => (isSame(change, seenOfLabel) ? [] : ofPod(change, reader))),
    trigger(services, ofService),
    trigger(endpointSlices, ofSlice),
    trigger(config.platform, (change, reader) => (isNewData(change) ? everyCard(reader) : [])),
    trigger(config.defaults, (change, reader) => (isNewData(change) ? everyCard(reader, namespaceOf(change)) : [])),
    ...(trustBundle === undefined
      ? []
      : [trigger(trustBundle, (change, reader) => (isNewData(change) ? everyCard(reader) : []))]),
  ];
}

/** A card that is gone without a release, as when somebody took its finalizer off: what is known of it goes as well, and nobody is woken. */
export function goneTrigger(forget: (card: AgentCard) => void): Trigger {
  return trigger(agentCards, ({ old, now }) => {
    if (old !== undefined && old.metadata.uid !== now?.metadata.uid) forget(old);
    return [];
  });
}

function objectOf<T extends KubeObject>({ old, now }: Change<T>): T | undefined {
  return now ?? old;
}

function targeting(reader: Reader, namespace: string | undefined, target: string): readonly ObjectKey[] {
  return reader.list(agentCards, { namespace, index: { name: 'target', value: target } }).map(keyOf);
}

function targetingAny(reader: Reader, namespace: string | undefined, targets: readonly string[]): readonly ObjectKey[] {
  return targets.flatMap((target) => targeting(reader, namespace, target));
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';

/** Whether nothing of what `look` sees has changed. */
function isSame<T extends KubeObject>({ old, now }: Change<T>, look: (object: T) => unknown): boolean {
  return text(old && look(old)) === text(now && look(now));
}

/** Others on the old and on the new target: who comes first follows from who else is there. */
function siblings({ old, now }: Change<AgentCard>, reader: Reader): readonly ObjectKey[] {
  const rank = ({ metadata }: AgentCard) => [metadata.generation, metadata.deletionTimestamp, metadata.labels];
  if (isSame({ old, now }, rank)) return [];
  const targets = [old, now].flatMap((card) => (card?.spec?.targetRef ? [targetIndex(card.spec.targetRef)] : []));
  const { namespace, name } = objectOf({ old, now })?.metadata ?? {};
  return [...new Set(targets)]
    .flatMap((target) => targeting(reader, namespace, target))
    .filter((key) => key.name !== name);
}

/** The cards of the workloads that it names, or did. */
function ofRuntime(change: Change<AgentRuntime>, reader: Reader): readonly ObjectKey[] {
  if (isSame(change, ({ metadata, spec }) => [metadata.name, spec.type, spec.targetRef])) return [];
  const refs = [change.old, change.now].flatMap((runtime) => runtime?.spec?.targetRef ?? []);
  return targetingAny(reader, namespaceOf(change), [...new Set(refs.map(targetIndex))]);
}

function ofWorkload(row: WorkloadRow, change: Change, reader: Reader): readonly ObjectKey[] {
  const object = objectOf(change);
  if (object === undefined || isSame(change, (one) => seenOfWorkload(row, one))) return [];
  const { name = '', namespace } = object.metadata;
  const own = targeting(reader, namespace, `${row.group}/${row.kind}/${name}`);
  const isNew = change.old === undefined || change.now === undefined;
  return isNew ? [...own, ...targetingAny(reader, namespace, ownerTargets(object))] : own;
}

/** Everything this controller reads of a workload. */
function seenOfWorkload(row: WorkloadRow, object: KubeObject): unknown {
  const workload = workloadOf(row, object);
  const { labels: own, templateLabels, serviceAccount } = workload;
  return [object.metadata.uid, own, templateLabels, serviceAccount];
}

function ofPod(change: Change, reader: Reader): readonly ObjectKey[] {
  return targetingAny(reader, namespaceOf(change), podTargets(change, reader));
}

/** Whether it runs, is to be asked and through which Services, whose it is, and whether it bears the label. */
function seenOfPod(pod: Pod): unknown {
  const { conditions = [], podIP, podIPs } = pod.status ?? {};
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return [isRunning(pod), isReady, podIP, podIPs, pod.metadata.labels, seenOfLabel(pod)];
}

function seenOfLabel(pod: KubeObject): unknown {
  const { metadata } = pod;
  return [metadata.uid, controllerUid(pod), metadata.labels?.[labels.signatureVerified]];
}

/** The cards whose workload's pods it selects, or did. */
function ofService(change: Change<Service>, reader: Reader): readonly ObjectKey[] {
  const selecting = [change.old, change.now].filter((service) => service !== undefined);
  if (isSame(change, ({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, metadata.annotations, spec])) {
    return [];
  }
  return selectedBy(selecting, reader);
}

function ofSlice(change: Change<EndpointSlice>, reader: Reader): readonly ObjectKey[] {
  if (isSame(change, ({ endpoints, ports, addressType }) => [endpoints, ports, addressType])) return [];
  const { namespace, labels: own } = objectOf(change)?.metadata ?? {};
  const service = reader.get(services, { namespace, name: own?.[serviceLabel] ?? '' });
  return service === undefined ? [] : selectedBy([service], reader);
}

/** Through the pods of the namespace, because a Service may select by any label, also by one that no template has. */
function selectedBy(selecting: readonly Service[], reader: Reader): readonly ObjectKey[] {
  const namespace = selecting[0]?.metadata.namespace ?? '';
  const selected = reader
    .list(enrolledPods, { namespace })
    .filter(({ metadata }) => selecting.some((service) => selects(service, metadata.labels ?? {})));
  const targets = new Set(selected.flatMap((pod) => podTargets({ now: pod }, reader)));
  return targetingAny(reader, namespace, [...targets]);
}
