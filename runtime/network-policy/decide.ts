/** Observed → Plan: the policy to be there, those to go, one condition, and what is worth an event. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import { mergeConditions } from '../api/conditions.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
import { kinds } from '../api/kinds.ts';
import type { ObjectRef, Plan } from '../engine/types.ts';
import { notices } from './notices.ts';
import type { Observed } from './observed.ts';
import { conditionType, outcomeOf } from './outcome.ts';
import { networkPolicy } from './policies.ts';

/** Pure. Applying the plan and observing again gives a plan that changes nothing. */
export function decide(observed: Observed, now: Date): Plan<AgentCardStatus> {
  const { card, own, name } = observed;
  if (observed.isTerminating) return {};
  if (observed.isAudit) return withdrawal(observed, own);
  // The card that counts takes over the policy of this name: removing it here would open the workload for a moment.
  const others = own.filter(({ metadata }) => metadata.name !== name);
  if (!observed.counts) return withdrawal(observed, others);
  const { finding, policy, isWithdrawn = false, afterMs } = outcomeOf(observed, now);
  const previous = card.status?.conditions?.filter(({ type }) => type === conditionType);
  return {
    ...(policy === undefined ? {} : { apply: [networkPolicy(policy)] }),
    remove: (isWithdrawn ? own : others).map(refOf),
    status: { conditions: [...mergeConditions(previous, [finding], now, card.metadata.generation)] },
    notices: notices(previous?.[0], finding),
    ...(afterMs === undefined ? {} : { afterMs: Math.max(1, Math.ceil(afterMs)) }),
  };
}

/** Policies go, and with them the condition about them. */
function withdrawal({ card }: Observed, policies: readonly NetworkPolicy[]): Plan<AgentCardStatus> {
  const isReported = card.status?.conditions?.some(({ type }) => type === conditionType) === true;
  return { remove: policies.map(refOf), ...(isReported ? { status: {} } : {}) };
}

function refOf({ metadata }: NetworkPolicy): ObjectRef {
  const { namespace, name = '', uid } = metadata;
  return { kind: kinds.networkPolicy, namespace, name, uid };
}
