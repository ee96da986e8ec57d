/** In the place of the card controller: what tests write into the status of a card is the operator's verdict. */

import type { AgentCard } from '../../runtime/api/agent-card.ts';
import type { Controller } from '../../runtime/engine/types.ts';
import { agentCards } from '../../runtime/workload/cards.ts';
import { judgedPart, type Verdicts } from '../../runtime/workload/verdicts.ts';

export function createJudging(verdicts: Verdicts): Controller<AgentCard, AgentCard> {
  return {
    name: 'judging',
    fieldManager: 'judging',
    primary: agentCards,
    triggers: [],
    wakeOn: 'any',
    observe: (card) => Promise.resolve(card),
    decide: (card) => {
      judge(card, verdicts);
      return {};
    },
  };
}

/** Without a verdict about this very spec the last one stays, as that of a controller that has not looked yet. */
export function judge(card: AgentCard, verdicts: Verdicts): void {
  const { conditions = [], certificateExpires: expires } = card.status ?? {};
  const verified = conditions.find(({ type }) => type === 'Verified');
  if (verified === undefined || verified.observedGeneration !== card.metadata.generation) return;
  const { status, reason } = verified;
  verdicts.reach(card, { isVerified: status === 'True', reason, about: judgedPart(card), expires });
}
