/** Which NetworkPolicy is an AgentCard's, when two workloads of different kinds have one name; and back from the name to the cards. */

import type { AgentCard } from '../api/agent-card.ts';
import { networkPolicyName } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { Reader } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import { rowOf, type WorkloadRow, workloadRows } from '../workload/kinds.ts';

/**
 * The plain name belongs to the first kind, in the order of `workloadRows` (Deployment first), of which a card has this target's name;
 * the others' names end in their kind. It depends on cards alone, so it is the same whoever asks and whenever.
 */
export function policyName(reader: Reader, namespace: string, ref: TargetRef): string {
  const row = rowOf(ref);
  const earlier = row === undefined ? [] : workloadRows.slice(0, workloadRows.indexOf(row));
  const isTaken = earlier.some((each) => cardsOf(reader, namespace, { row: each, name: ref.name }).length > 0);
  return networkPolicyName(ref.name, isTaken ? ref.kind : undefined);
}

/** Every card whose target, of whatever kind, has this name. */
export function cardsOfName(reader: Reader, namespace: string, name: string): readonly AgentCard[] {
  return workloadRows.flatMap((row) => cardsOf(reader, namespace, { row, name }));
}

/** The longest name of an object; a policy's name of this length may have been cut, and says nothing of its workload. */
const longestName = 253;
const pattern = /^(.+)-signature-policy(-[a-z]+)?$/;

/** Every card that may want a policy of this name. */
export function cardsForPolicy(reader: Reader, namespace: string, policy: string): readonly AgentCard[] {
  if (policy.length === longestName) return reader.list(agentCards, { namespace });
  const workload = pattern.exec(policy)?.[1];
  return workload === undefined ? [] : cardsOfName(reader, namespace, workload);
}

interface Named {
  readonly row: WorkloadRow;
  readonly name: string;
}

function cardsOf(reader: Reader, namespace: string, { row, name }: Named): readonly AgentCard[] {
  return reader.list(agentCards, { namespace, index: { name: 'target', value: `${row.group}/${row.kind}/${name}` } });
}
