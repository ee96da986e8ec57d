/** Gathers what a decision about a workload's card needs: by index and name from the cache, and one live read before anything is deleted. */

import { kinds } from '../api/kinds.ts';
import { fieldManagers, generatedCardName } from '../api/names.ts';
import type { Gathering, KubeObject, Reader } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import type { WorkloadRow } from '../workload/kinds.ts';
import { namespaces, targetIndex } from '../workload/watches.ts';
import { workloadOf } from '../workload/workload.ts';
import { appliedOverBy } from './applied-over.ts';
import type { Facts, Observed } from './observed.ts';
import { stepOf } from './step.ts';

export async function observe(object: KubeObject, row: WorkloadRow, { reader, live }: Gathering): Promise<Observed> {
  const facts = factsOf(object, row, reader);
  const step = stepOf(facts);
  if (step.kind !== 'withdraw') return { ...facts, appliedOverBy: undefined };
  const { namespace, name = '' } = step.card.metadata;
  // Who wrote a field is what the cache does not keep.
  const card = await live.get(kinds.agentCard, { namespace, name });
  return { ...facts, appliedOverBy: appliedOverBy(card?.metadata.managedFields ?? [], fieldManagers.agentCardSync) };
}

function factsOf(object: KubeObject, row: WorkloadRow, reader: Reader): Facts {
  const workload = workloadOf(row, object);
  const { namespace, name, ref } = workload;
  return {
    workload,
    isTerminating: reader.get(namespaces, { name: namespace })?.metadata.deletionTimestamp !== undefined,
    cards: reader.list(agentCards, { namespace, index: { name: 'target', value: targetIndex(ref) } }),
    named: reader.get(agentCards, { namespace, name: generatedCardName(ref.kind, name) }),
  };
}
