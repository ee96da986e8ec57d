/** What a schema cannot say about an AgentCard. */

import { type AgentCard, agentCardDefaults } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import { webhooks } from '../api/names.ts';
import { parseDuration } from '../encoding/duration.ts';
import { isGenerated } from '../workload/cards.ts';
import type { Rules } from './rules.ts';
import { kindWarning } from './target-kind.ts';

export const agentCardRules: Rules<AgentCard> = {
  webhook: webhooks.agentCard,
  kind: kinds.agentCard,
  refusal: (spec, before) =>
    spec.syncPeriod === before?.syncPeriod ? undefined : periodRefusal(spec.syncPeriod, agentCardDefaults),
  warnings: ({ targetRef }, supported) => kindWarning(targetRef, 'cannot have its card fetched', supported),
  // The operator withdraws the card it generated as soon as there is one made by hand.
  isRival: (candidate, other) => isGenerated(candidate) || !isGenerated(other),
};

/** The value and the minimum: who asks for more than can be had should not have to read it in a status. */
function periodRefusal(
  period: string | undefined,
  { minSyncPeriodMs }: { readonly minSyncPeriodMs: number },
): string | undefined {
  const ms = period === undefined ? undefined : parseDuration(period);
  if (ms === undefined || ms >= minSyncPeriodMs) return undefined;
  return `spec.syncPeriod: ${period} is too short; the shortest is ${minSyncPeriodMs / 1000}s.`;
}
