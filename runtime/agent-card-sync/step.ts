/** What is to be done about a workload's card, decided from the cache. */

import type { AgentCard } from '../api/agent-card.ts';
import { labels } from '../api/names.ts';
import { isGenerated } from '../workload/cards.ts';
import type { Workload } from '../workload/workload.ts';
import { ownersWith } from './generated-card.ts';
import type { Facts } from './observed.ts';

export type Step =
  /** The workload has its card, needs none, or what there is has to vanish first: its going is what wakes the next pass. */
  | { readonly kind: 'none' }
  | { readonly kind: 'create' }
  /** The generated card does not say, or says wrongly, whose it is. */
  | { readonly kind: 'own'; readonly card: AgentCard }
  /** The generated card has become one too many; unless somebody else wrote its spec. */
  | { readonly kind: 'withdraw'; readonly card: AgentCard; readonly why: 'HandMade' | 'NotAnAgent' }
  /** The generated name belongs to the card of another workload. */
  | { readonly kind: 'taken'; readonly card: AgentCard };

const none: Step = { kind: 'none' };

/**
 * | the workload      | cards of it                 | step                                   |
 * |-------------------|-----------------------------|----------------------------------------|
 * | an agent          | none, name free             | create                                 |
 * | an agent          | none, name of another's     | taken                                  |
 * | an agent          | hand-made ones              | none: adopted, whatever their names    |
 * | an agent          | generated and hand-made     | withdraw the generated one             |
 * | an agent          | generated alone             | own, where its owner is not stated     |
 * | not one (any more)| generated                   | withdraw it                            |
 * | being deleted     | any                         | none                                   |
 */
export function stepOf(facts: Facts): Step {
  const { workload, cards, isTerminating } = facts;
  // Of a workload that goes, the garbage collector takes the card along or lets go of it, as was asked: an owner stated now would undo that.
  if (isTerminating || workload.object.metadata.deletionTimestamp !== undefined) return none;
  const present = cards.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const generated = present.find(isGenerated);
  if (generated === undefined) return isAgent(workload) && cards.length === 0 ? named(facts) : none;
  if (!isAgent(workload)) return { kind: 'withdraw', card: generated, why: 'NotAnAgent' };
  if (present.some((card) => !isGenerated(card))) return { kind: 'withdraw', card: generated, why: 'HandMade' };
  return ownersWith(generated, workload) === undefined ? none : { kind: 'own', card: generated };
}

/** Nobody targets the workload; is the name free as well? */
function named({ named: card }: Facts): Step {
  if (card === undefined) return { kind: 'create' };
  return card.metadata.deletionTimestamp === undefined ? { kind: 'taken', card } : none;
}

/** Enrolled as an agent, and its developer has said which protocol it speaks. Both stand on the workload itself, not on its template. */
export function isAgent({ labels: own }: Workload): boolean {
  return own[labels.type] === 'agent' && Object.keys(own).some((key) => key.startsWith(labels.protocolPrefix));
}
