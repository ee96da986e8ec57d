/** The AgentCards of a workload: the watch that features share, which of them was generated, and which of several counts. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import { generatedCardName, labels, managedBy } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { ObjectKey, Reader, Watch } from '../engine/types.ts';
import { keyOf } from './trigger.ts';
import { targetIndex } from './watches.ts';

/** Index `target` by `targetIndex(ref)`: all the cards of a workload. Combine with the namespace. */
export const agentCards: Watch<AgentCard> = Object.freeze({
  id: 'agentcards',
  kind: kinds.agentCard,
  indexes: {
    target: (card: AgentCard) => {
      const ref = targetOf(card);
      return ref === undefined ? [] : [targetIndex(ref)];
    },
  },
});

/** Of one namespace, or of all. */
export function everyCard(reader: Reader, namespace?: string): readonly ObjectKey[] {
  return reader.list(agentCards, { namespace }).map(keyOf);
}

/** Made by the operator for its target: it has our managed-by label and the generated name. Any other card is hand-made. */
export function isGenerated(card: AgentCard): boolean {
  const ref = targetOf(card);
  const { name, labels: own } = card.metadata;
  return ref !== undefined && own?.[labels.managedBy] === managedBy && name === generatedCardName(ref.kind, ref.name);
}

/**
 * The one card that counts among all those of one target: hand-made before generated, then the oldest, then the lesser uid. Cards that are
 * being deleted do not count; `undefined` when none does.
 */
export function winner(cards: readonly AgentCard[]): AgentCard | undefined {
  return cards.filter(({ metadata }) => metadata.deletionTimestamp === undefined).sort(byRank)[0];
}

function byRank(a: AgentCard, b: AgentCard): number {
  return rank(a) < rank(b) ? -1 : 1;
}

/** API server times are of one format and length, so that their text sorts as they do. */
function rank(card: AgentCard): string {
  const { creationTimestamp = '', uid = '' } = card.metadata;
  return `${isGenerated(card) ? 1 : 0} ${creationTimestamp} ${uid}`;
}

/** Objects older than the schema may lack a target altogether. */
function targetOf(card: AgentCard): TargetRef | undefined {
  return (card as Partial<AgentCard>).spec?.targetRef;
}
