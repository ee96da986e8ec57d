/** A pod with the verified label for which no AgentCard answers: an orphan of a workload that is gone, or a forgery. */

import { labels } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { Change, KubeObject, ObjectKey, ObjectRef, Plan, Reader, Trigger, Watch } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import { lookUpTarget } from '../workload/find.ts';
import { workloadRows } from '../workload/kinds.ts';
import { controllerUid, ownerOf } from '../workload/owner.ts';
import { podOwnersOf } from '../workload/pods.ts';
import { enrolledPods, enrolledReplicaSets, targetIndex } from '../workload/watches.ts';
import { verifiedPods } from './bearers.ts';
import { isSetByOperator } from './label-setter.ts';
import { patch } from './verified-label.ts';

export interface Vouching {
  readonly pod: ObjectRef;
  /** A card that stays has its workload as its target, and finds this pod when the label is to go. */
  readonly isVouchedFor: boolean;
  /** The operator set the label. */
  readonly isOurs: boolean;
}

export function vouchingOf(pod: KubeObject, reader: Reader): Vouching {
  const { namespace = '', name = '', uid } = pod.metadata;
  const ref: ObjectRef = { kind: verifiedPods.kind, namespace, name, uid };
  const target = targetOf(pod, reader);
  const isVouchedFor = target !== undefined && isTarget(target, namespace, reader) && isFound(pod, target, reader);
  return { pod: ref, isVouchedFor, isOurs: isSetByOperator(pod) };
}

/** A verdict ends with the deletion of its card, however long that takes. */
function isTarget(target: TargetRef, namespace: string, reader: Reader): boolean {
  const cards = reader.list(agentCards, { namespace, index: { name: 'target', value: targetIndex(target) } });
  return cards.some(isStaying);
}

function isStaying({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** By the owner chain alone: a name proves nothing. */
function targetOf(pod: KubeObject, reader: Reader): TargetRef | undefined {
  const { namespace } = pod.metadata;
  const owner = ownerOf(pod, (kind, name) => {
    if (kind === 'ReplicaSet') return reader.get(enrolledReplicaSets, { namespace, name });
    return jobs === undefined ? undefined : reader.get(jobs, { namespace, name });
  });
  if ('none' in owner || owner.kind === undefined) return undefined;
  return { apiVersion: `${owner.group ?? ''}/v1`, kind: owner.kind, name: owner.name };
}

const jobs = workloadRows.find(({ kind }) => kind === 'Job')?.watch;

/** A kind that cannot be read now is left alone until it can. */
function isFound(pod: KubeObject, target: TargetRef, reader: Reader): boolean {
  const workload = lookUpTarget(reader, pod.metadata.namespace ?? '', target);
  if ('unreadable' in workload) return true;
  const [owner = ''] = controllerUid(pod);
  return 'found' in workload && podOwnersOf(reader, workload.found).includes(owner);
}

/** What the operator set ends with its card or its workload, which is in order and no news: only a forgery is. */
export function withdrawal({ pod, isVouchedFor, isOurs }: Vouching): Plan {
  if (isVouchedFor) return {};
  if (isOurs) return { patch: [patch(pod, null)] };
  const note = `No AgentCard answers for this pod, so the label ${labels.signatureVerified}, which somebody else has set, was removed. Only the operator sets it, on pods of a workload whose card is verified.`;
  return {
    patch: [patch(pod, null)],
    notices: [{ type: 'Warning', reason: 'UnvouchedLabelRemoved', action: 'RemoveLabel', note, regarding: pod }],
  };
}

/** Whatever takes the ground from under a pod's label: a card that goes, a workload or a ReplicaSet that is gone, or has another owner. */
export function groundTriggers(): readonly Trigger[] {
  const owners: readonly Watch[] = [enrolledReplicaSets, ...workloadRows.map((row) => row.watch)];
  return [
    { watch: agentCards as Watch, affects: ofCard },
    { watch: enrolledPods as Watch, affects: ofPod },
    ...owners.map((watch) => ({ watch, affects: ofOwner })),
  ];
}

/** A write is left out when the pod as another watch has it says so already: so that watch must have its say when it has caught up. */
function ofPod({ old, now }: Change): readonly ObjectKey[] {
  const value = now?.metadata.labels?.[labels.signatureVerified];
  if (now === undefined || value === undefined || value === old?.metadata.labels?.[labels.signatureVerified]) return [];
  return [{ namespace: now.metadata.namespace, name: now.metadata.name ?? '' }];
}

function ofOwner({ old, now }: Change, reader: Reader): readonly ObjectKey[] {
  if (old === undefined) return [];
  const isSame = now !== undefined && controllerUid(old)[0] === controllerUid(now)[0];
  return isSame ? [] : ownedBy(old.metadata.uid ?? '', old, reader);
}

function ofCard({ old, now }: Change, reader: Reader): readonly ObjectKey[] {
  const ref = refOf(old);
  if (old === undefined || ref === undefined) return [];
  const next = refOf(now);
  const isSame = next !== undefined && targetIndex(next) === targetIndex(ref);
  if (isSame && now !== undefined && isStaying(old) === isStaying(now)) return [];
  const target = lookUpTarget(reader, old.metadata.namespace ?? '', ref);
  if (!('found' in target)) return [];
  return podOwnersOf(reader, target.found).flatMap((uid) => ownedBy(uid, old, reader));
}

function refOf(card: KubeObject | undefined): TargetRef | undefined {
  return (card as { readonly spec?: { readonly targetRef?: TargetRef } } | undefined)?.spec?.targetRef;
}

function ownedBy(value: string, { metadata: { namespace } }: KubeObject, reader: Reader): readonly ObjectKey[] {
  const pods = reader.list(verifiedPods, { namespace, index: { name: 'owner', value } });
  return pods.map(({ metadata }) => ({ namespace, name: metadata.name ?? '' }));
}
