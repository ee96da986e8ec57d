/** What an operator has said of a card before, in an earlier pass or an earlier process: for whatever nothing newer is known. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import type { Condition } from '../api/conditions.ts';
import { isSameTarget } from '../api/target-ref.ts';
import { targetIndex } from '../workload/watches.ts';
import { assess } from './assess.ts';

export interface Kept {
  /** About the target that the card has now; nothing where there was none. */
  of(card: AgentCard, now: Date): AgentCardStatus;
  /** This process says so now. */
  say(card: AgentCard, status: AgentCardStatus): void;
  forget(uid: string): void;
}

/**
 * A status is read once, when a card is first seen: from then on what others write there is not taken for what was said. Whoever writes while
 * no operator works is believed until the agent has answered, as far as it makes sense.
 */
export function createKept(): Kept {
  const said = new Map<string, { readonly target: string; readonly status: AgentCardStatus }>();
  return {
    of: (card, now) => {
      const { uid = '' } = card.metadata;
      const target = targetOf(card);
      const known = said.get(uid);
      if (known?.target === target) return known.status;
      const status = sensible(keptStatus(card), now);
      said.set(uid, { target, status });
      return status;
    },
    say: (card, status) => void said.set(card.metadata.uid ?? '', { target: targetOf(card), status }),
    forget: (uid) => void said.delete(uid),
  };
}

function targetOf({ spec }: AgentCard): string {
  const ref = (spec as Partial<AgentCard['spec']> | undefined)?.targetRef;
  return ref === undefined ? '' : targetIndex(ref);
}

/** The status, when it speaks of this very target; else nothing. */
function keptStatus({ status, spec }: AgentCard): AgentCardStatus {
  const ref = (spec as Partial<AgentCard['spec']> | undefined)?.targetRef;
  const isSame = status?.targetRef !== undefined && ref !== undefined && isSameTarget(status.targetRef, ref);
  return isSame ? status : {};
}

/** Without a document that does not agree with itself, and without an answer that is yet to come. */
function sensible(status: AgentCardStatus, now: Date): AgentCardStatus {
  const { card, cardHash, agent, lastSyncTime, ...rest } = status;
  const isPast = lastSyncTime !== undefined && Date.parse(lastSyncTime) <= now.getTime();
  const kept = { ...rest, ...(isPast ? { lastSyncTime } : {}) };
  if (card === undefined) return { ...kept, ...(cardHash === undefined ? {} : { cardHash, agent }) };
  const assessment = assess(Buffer.from(JSON.stringify(card)), undefined, now);
  if (assessment.kind !== 'read' || assessment.document.cardHash !== cardHash) return kept;
  const { path } = agent ?? {};
  return { ...kept, card, cardHash, agent: { ...assessment.document.agent, ...(path === undefined ? {} : { path }) } };
}

/** One condition of it. */
export function keptCondition(kept: AgentCardStatus, type: string): Condition | undefined {
  return kept.conditions?.find((condition) => condition.type === type);
}
