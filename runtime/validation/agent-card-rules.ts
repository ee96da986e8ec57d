/** What a schema cannot say about an AgentCard. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import { webhooks } from '../api/names.ts';
import { syncPeriodFault } from '../api/sync-period.ts';
import { isGenerated } from '../workload/cards.ts';
import type { Rules } from './rules.ts';
import { kindWarning } from './target-kind.ts';

export const agentCardRules: Rules<AgentCard> = {
  webhook: webhooks.agentCard,
  kind: kinds.agentCard,
  refusal: ({ syncPeriod }, before) => {
    const fault = syncPeriod === before?.syncPeriod ? undefined : syncPeriodFault(syncPeriod);
    // Who asks for what cannot be had should not have to read it in a status.
    return fault && `spec.syncPeriod: ${fault}.`;
  },
  warnings: ({ targetRef }, supported) => kindWarning(targetRef, 'cannot have its card fetched', supported),
  // The operator withdraws the card it generated as soon as there is one made by hand.
  isRival: (candidate, other) => isGenerated(candidate) || !isGenerated(other),
};
