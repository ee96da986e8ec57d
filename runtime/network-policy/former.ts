/** The workload of an AgentCard that is being deleted: whether it stays, how it is deleted, and what it selected. */

import type { AgentCard } from '../api/agent-card.ts';
import type { LabelSelector } from '../api/kubernetes.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { Gathering, KubeObject } from '../engine/types.ts';
import { rowOf } from '../workload/kinds.ts';
import { selectorOf } from '../workload/selector.ts';
import { workloadOf } from '../workload/workload.ts';

export interface Former {
  readonly ref: TargetRef;
  /** What the API server has under its name now: itself, or one that came after it. */
  readonly live: KubeObject | undefined;
  /** Neither gone nor going. */
  readonly isStaying: boolean;
  /** It is deleted with its pods before it, each of them with what it owns before that. */
  readonly isForeground: boolean;
  /** Of the workload itself, where the API server or the cache still has it. */
  readonly selectors: readonly LabelSelector[];
}

/** Put by the API server on what is deleted so, until the garbage collector has deleted what it owns. */
export const foreground = 'foregroundDeletion';

/**
 * Asks the API server: the cache may be behind the garbage collector, which deletes a card right after its workload. Whatever either of them
 * says of a deletion is so, since none is ever taken back.
 */
export async function readFormer(card: AgentCard, ref: TargetRef, { reader, live }: Gathering): Promise<Former> {
  const { namespace = '' } = card.metadata;
  const row = rowOf(ref);
  if (row === undefined) return { ref, live: undefined, isStaying: false, isForeground: false, selectors: [] };
  const cached = reader.get(row.watch, { namespace, name: ref.name });
  const named = await live.list(row.watch.kind, { namespace, fields: `metadata.name=${ref.name}` });
  const found = named.find(({ metadata }) => metadata.name === ref.name);
  const uid = ownerUid(card, ref) ?? cached?.metadata.uid;
  const itself = [found, cached]
    .filter((object) => object !== undefined)
    .filter(({ metadata }) => metadata.uid === uid);
  const isGoing = itself.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return {
    ref,
    live: found,
    isStaying: found !== undefined && itself.includes(found) && !isGoing,
    isForeground: isGoing && itself.some(({ metadata }) => metadata.finalizers?.includes(foreground) === true),
    selectors: itself.map((object) => selectorOf(workloadOf(row, object))),
  };
}

/** Of the workload that the card was made for, not of one that came after it. */
function ownerUid({ metadata }: AgentCard, { kind, name }: TargetRef): string | undefined {
  return metadata.ownerReferences?.find((owner) => owner.kind === kind && owner.name === name)?.uid;
}
