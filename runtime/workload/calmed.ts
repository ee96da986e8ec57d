/** What somebody else writes into a card's status over and over is put back with pauses. All else of a plan never waits. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import type { Condition } from '../api/conditions.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Plan } from '../engine/types.ts';
import type { PutBacks } from './put-backs.ts';

export interface Calming {
  /** The part of a status that the controller says. */
  readonly own: (status: AgentCardStatus) => AgentCardStatus;
  readonly putBacks: PutBacks;
  readonly now: Date;
}

/** The plan, or what of it does not wait. */
export function calmed(card: AgentCard, plan: Plan<AgentCardStatus>, calming: Calming): Plan<AgentCardStatus> {
  if (plan.status === undefined) return plan;
  const wanted = calming.own(plan.status);
  const waitMs = calming.putBacks.waitMs(card.metadata.uid ?? '', {
    wanted: textOf(timeless(wanted)),
    isThere: textOf(calming.own(card.status ?? {})) === textOf(wanted),
    at: calming.now.getTime(),
  });
  if (waitMs === 0) return plan;
  const { status: _, notices: __, patch = [], ...rest } = plan;
  const elsewhere = patch.filter(({ subresource }) => subresource !== 'status');
  return { ...rest, patch: elsewhere, afterMs: Math.min(waitMs, plan.afterMs ?? waitMs) };
}

/** The conditions of these types, and nothing else. */
export function conditionsOf({ conditions = [] }: AgentCardStatus, types: readonly string[]): Condition[] {
  return conditions.filter(({ type }) => types.includes(type));
}

/** When something last changed or was seen is no part of what is wanted: it follows from what was there, and from how often one looks. */
function timeless(status: AgentCardStatus): object {
  const { lastSyncTime: _, conditions = [], ...rest } = status;
  return { ...rest, conditions: conditions.map(({ lastTransitionTime: __, ...told }) => told) };
}

function textOf(status: object): string {
  return canonicalJson(JSON.parse(JSON.stringify(status)));
}
