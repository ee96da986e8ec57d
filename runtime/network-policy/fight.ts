/** A condition that somebody else writes over and over is put back with pauses. Policies never wait. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Plan } from '../engine/types.ts';
import type { PutBacks } from '../workload/put-backs.ts';
import { conditionType } from './outcome.ts';

/** The plan, or what of it does not wait. */
export function calmed(
  card: AgentCard,
  plan: Plan<AgentCardStatus>,
  { putBacks, now }: { readonly putBacks: PutBacks; readonly now: Date },
): Plan<AgentCardStatus> {
  if (plan.status === undefined) return plan;
  const waitMs = putBacks.waitMs(card.metadata.uid ?? '', {
    wanted: textOf(plan.status, false),
    isThere: textOf(card.status ?? {}, true) === textOf(plan.status, true),
    at: now.getTime(),
  });
  if (waitMs === 0) return plan;
  const { status: _, notices: __, ...rest } = plan;
  return { ...rest, afterMs: Math.min(waitMs, plan.afterMs ?? waitMs) };
}

/** When a condition last changed is no part of what is wanted: it follows from what was there. */
function textOf({ conditions = [] }: AgentCardStatus, withTimes: boolean): string {
  const own = conditions.filter(({ type }) => type === conditionType);
  return canonicalJson(
    own.map(({ status, reason, message, lastTransitionTime }) => ({
      status,
      reason,
      message,
      ...(withTimes ? { lastTransitionTime } : {}),
    })),
  );
}
