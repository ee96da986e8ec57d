/** A changed AgentCard → the workloads it concerns: the one it targets, and the one whose generated name it has. */

import type { AgentCard } from '../api/agent-card.ts';
import { generatedCardName } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import type { Change, ObjectKey, Reader, Trigger } from '../engine/types.ts';
import { agentCards, isGenerated } from '../workload/cards.ts';
import type { WorkloadRow } from '../workload/kinds.ts';

/** Of workloads of one kind. */
export function cardTrigger(row: WorkloadRow): Trigger {
  const affects = (change: Change<AgentCard>, reader: Reader) => ofCard(row, change, reader);
  return { watch: agentCards, affects } as unknown as Trigger;
}

function ofCard(row: WorkloadRow, { old, now }: Change<AgentCard>, reader: Reader): readonly ObjectKey[] {
  if (look(old) === look(now)) return [];
  const cards = [old, now].filter((card) => card !== undefined);
  const namespace = cards[0]?.metadata.namespace;
  const names = cards.flatMap((card) => [...targetName(card, row), ...workloadNamed(card, row, reader)]);
  return [...new Set(names)].map((name) => ({ namespace, name }));
}

/** Everything this controller reads of a card, as one text; its status is not among it. */
function look(card: AgentCard | undefined): string {
  if (card === undefined) return '';
  const { uid, deletionTimestamp, ownerReferences } = card.metadata;
  return JSON.stringify([uid, deletionTimestamp, ownerReferences, isGenerated(card), targetOf(card)]);
}

function targetOf(card: AgentCard): AgentCard['spec']['targetRef'] | undefined {
  return (card as Partial<AgentCard>).spec?.targetRef;
}

function targetName(card: AgentCard, { kind, group }: WorkloadRow): readonly string[] {
  const ref = targetOf(card);
  return ref !== undefined && ref.kind === kind && groupOf(ref.apiVersion) === group ? [ref.name] : [];
}

/** A name that was cut carries a hash instead of its end: then every workload of the namespace is asked for its card's. */
function workloadNamed({ metadata }: AgentCard, row: WorkloadRow, reader: Reader): readonly string[] {
  const { name = '', namespace } = metadata;
  const suffix = `-${row.kind.toLowerCase()}-card`;
  if (name.endsWith(suffix)) return [name.slice(0, -suffix.length)];
  if (name.length < longest) return [];
  return reader
    .list(row.watch, { namespace })
    .flatMap(({ metadata: { name: workload = '' } }) =>
      generatedCardName(row.kind, workload) === name ? [workload] : [],
    );
}

/** Length of a name that was cut: the most an object's name may have. */
const longest = 253;
