/** A generated card that a workload has left behind, as `--cascade=orphan` does: nobody owns it, so nothing else takes it away. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import { fieldManagers } from '../api/names.ts';
import type { Gathering, ObjectKey, Plan, Reader, Trigger } from '../engine/types.ts';
import { agentCards, isGenerated } from '../workload/cards.ts';
import { lookUpTarget } from '../workload/find.ts';
import type { WorkloadRow } from '../workload/kinds.ts';
import { keyOf, namespaceOf, trigger } from '../workload/trigger.ts';
import { namespaces } from '../workload/watches.ts';
import { appliedOverBy } from './applied-over.ts';

export interface Orphan {
  readonly card: AgentCard;
  readonly isOrphan: boolean;
  /** Who else has written its spec; looked up only of an orphan. */
  readonly appliedOverBy: string | undefined;
}

export async function observeOrphan(card: AgentCard, { reader, live }: Gathering): Promise<Orphan> {
  if (!isOrphan(card, reader)) return { card, isOrphan: false, appliedOverBy: undefined };
  const { namespace, name = '' } = card.metadata;
  // Who wrote a field is what the cache does not keep.
  const found = await live.get(kinds.agentCard, { namespace, name });
  const by = appliedOverBy(found?.metadata.managedFields ?? [], fieldManagers.agentCardSync);
  return { card, isOrphan: true, appliedOverBy: by };
}

/** One that is owned is the garbage collector's, also for the moment until the workload's absence is noticed there. */
function isOrphan(card: AgentCard, reader: Reader): boolean {
  const { namespace = '', deletionTimestamp, ownerReferences = [] } = card.metadata;
  if (deletionTimestamp !== undefined || ownerReferences.length > 0 || !isGenerated(card)) return false;
  if (reader.get(namespaces, { name: namespace })?.metadata.deletionTimestamp !== undefined) return false;
  return 'missing' in lookUpTarget(reader, namespace, card.spec.targetRef);
}

export function decideOrphan({ card, isOrphan: isLeft, appliedOverBy: by }: Orphan): Plan<never> {
  if (!isLeft) return {};
  const { namespace, name = '', uid } = card.metadata;
  const { kind, name: workload } = card.spec.targetRef;
  const gone = `${kind} ${workload} is gone, and nobody owns its generated AgentCard ${name}`;
  const action = 'Withdraw';
  if (by === undefined) {
    const note = `${gone}, so it was deleted.`;
    return {
      remove: [{ kind: kinds.agentCard, namespace, name, uid }],
      notices: [{ type: 'Normal', reason: 'CardWithdrawn', action, note }],
    };
  }
  const note = `${gone}. It was not deleted, because ${by} has written its spec. Unless it is wanted: kubectl -n ${namespace} delete agentcard ${name}`;
  return { notices: [{ type: 'Warning', reason: 'CardNotWithdrawn', action, note }] };
}

/** A workload that is gone → the cards that target it. */
export function goneTrigger(row: WorkloadRow): Trigger {
  return trigger(row.watch, (change, reader): readonly ObjectKey[] => {
    const { old, now } = change;
    if (now !== undefined || old === undefined) return [];
    const index = { name: 'target', value: `${row.group}/${row.kind}/${old.metadata.name ?? ''}` };
    return reader.list(agentCards, { namespace: namespaceOf(change), index }).map(keyOf);
  });
}
