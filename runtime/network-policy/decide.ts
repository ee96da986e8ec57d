/** Observed → Plan: the policy to be there, those to go, one condition, and what is worth an event. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import { mergeConditions } from '../api/conditions.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
import { kinds } from '../api/kinds.ts';
import type { ObjectRef, Plan } from '../engine/types.ts';
import { notices } from './notices.ts';
import type { Observed } from './observed.ts';
import { conditionType, lookAgainMs, outcomeOf } from './outcome.ts';
import { isControlledByOther } from './ownership.ts';
import { networkPolicy, type PolicyFacts } from './policies.ts';

/** Pure. Applying the plan and observing again gives a plan that changes nothing. */
export function decide(observed: Observed, now: Date): Plan<AgentCardStatus> {
  const { card, own, name, awaited } = observed;
  if (observed.isTerminating) return {};
  if (observed.isAudit) return withdrawal(observed, own);
  // Whoever takes over a policy does so in one write: removing it here would open the workload for a moment.
  const mine = own.filter((policy) => !awaited.has(policy.metadata.name ?? ''));
  const others = mine.filter(({ metadata }) => metadata.name !== name);
  if (!observed.counts) return withdrawal(observed, others);
  const { finding, policy, isWithdrawn = false, afterMs } = outcomeOf(observed, now);
  const previous = card.status?.conditions?.filter(({ type }) => type === conditionType);
  return {
    ...(policy === undefined ? {} : written(policy, observed.policy)),
    remove: (isWithdrawn ? mine : others).map(refOf),
    status: { conditions: [...mergeConditions(previous, [finding], now, card.metadata.generation)] },
    notices: notices(previous?.[0], finding),
    ...earliest(afterMs, awaited.size > 0 ? lookAgainMs : undefined),
  };
}

/**
 * An object has one controller at most, and applying adds ours without taking another's away: somebody who wrote a controller on a policy of
 * ours is replaced first, by a write that the next pass follows.
 */
function written(facts: PolicyFacts, there: NetworkPolicy | undefined): Pick<Plan, 'apply' | 'patch'> {
  const fragment = networkPolicy(facts);
  if (there === undefined || !isControlledByOther(there, facts.card.metadata.uid)) return { apply: [fragment] };
  const { resourceVersion } = there.metadata;
  const { ownerReferences } = fragment.body.metadata;
  return { patch: [{ target: refOf(there), body: { metadata: { ownerReferences, resourceVersion } } }] };
}

/** Every policy of the card's goes. */
export function release({ own }: Observed): Plan<AgentCardStatus> {
  return { remove: own.map(refOf) };
}

function earliest(...times: readonly (number | undefined)[]): { readonly afterMs?: number } {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? {} : { afterMs: Math.max(1, Math.ceil(Math.min(...known))) };
}

/** Policies go, and with them the condition about them. */
function withdrawal({ card, awaited }: Observed, policies: readonly NetworkPolicy[]): Plan<AgentCardStatus> {
  const isReported = card.status?.conditions?.some(({ type }) => type === conditionType) === true;
  return {
    remove: policies.map(refOf),
    // An empty status would be null once nobody else's field is left in it, which the API server refuses.
    ...(isReported ? { status: { conditions: [] } } : {}),
    ...earliest(awaited.size > 0 ? lookAgainMs : undefined),
  };
}

function refOf({ metadata }: NetworkPolicy): ObjectRef {
  const { namespace, name = '', uid } = metadata;
  return { kind: kinds.networkPolicy, namespace, name, uid };
}
