/** What an earlier pass, or an earlier process, has written about the target that a card has now. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import type { Condition } from '../api/conditions.ts';
import { isSameTarget } from '../api/target-ref.ts';

/** The status, when it speaks of this very target; else nothing. */
export function keptStatus({ status, spec }: AgentCard): AgentCardStatus {
  const ref = (spec as Partial<AgentCard['spec']> | undefined)?.targetRef;
  const isSame = status?.targetRef !== undefined && ref !== undefined && isSameTarget(status.targetRef, ref);
  return isSame ? status : {};
}

/** One condition of it. */
export function keptCondition(card: AgentCard, type: string): Condition | undefined {
  return keptStatus(card).conditions?.find((condition) => condition.type === type);
}
