/** A status that somebody else writes over and over is put back with pauses. Labels and verdicts never wait. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Plan } from '../engine/types.ts';
import type { PutBacks } from '../workload/put-backs.ts';
import { ours } from './foreign.ts';

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
  const patch = plan.patch?.filter(({ subresource }) => subresource !== 'status') ?? [];
  return { patch, afterMs: Math.min(waitMs, plan.afterMs ?? waitMs) };
}

/** What is ours of it. When a condition last changed is no part of what is wanted: it follows from what was there. */
function textOf({ conditions = [], ...rest }: AgentCardStatus, withTimes: boolean): string {
  const own = conditions.filter(({ type }) => ours.includes(type));
  const told = own.map(({ lastTransitionTime, ...more }) => (withTimes ? { ...more, lastTransitionTime } : more));
  return canonicalJson(JSON.parse(JSON.stringify({ ...rest, conditions: told })));
}
