/** What the end of an AgentCard must not open: pods that outlive their workload stay closed. Wiring only. */

import type { AgentCard } from '../api/agent-card.ts';
import type { Controller } from '../engine/types.ts';
import { namespaces } from '../workload/watches.ts';
import { gatherOutlived, type Leavetaking } from './gather.ts';
import { leftoverNotices, leftoverPolicy, type Outlived } from './leftover.ts';
import { networkPolicies } from './watch.ts';

interface Leaving<O> {
  readonly observed: O;
  readonly outlived: readonly Outlived[];
}

/**
 * The controller whose finalizer holds the cards, taught to keep such pods closed before it lets their card go. A finalizer of our own would
 * cost each card two writes, and would have to be taken off where network policies are no longer enforced.
 */
export function withFarewell<O, S>(
  cards: Controller<AgentCard, O, S>,
  by: Leavetaking,
): Controller<AgentCard, Leaving<O>, S> {
  const read = [networkPolicies, namespaces];
  return {
    ...cards,
    reads: [...(cards.reads ?? []), ...read],
    // Where they may not be read, nothing else of the cards waits for them.
    optional: [...(cards.optional ?? []), ...read],
    observe: async (card, gathering) => ({
      observed: await cards.observe(card, gathering),
      outlived: await gatherOutlived(card, gathering, by),
    }),
    decide: ({ observed }, now) => cards.decide(observed, now),
    release: ({ observed, outlived }) => {
      const plan = cards.release?.(observed) ?? {};
      return {
        ...plan,
        create: [...(plan.create ?? []), ...outlived.map(leftoverPolicy)],
        notices: [...(plan.notices ?? []), ...outlived.flatMap(leftoverNotices)],
      };
    },
  };
}
