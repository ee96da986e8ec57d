/** The discovery of agents: enrolled workloads with a protocol in, AgentCards for them out. Wiring only. */

import type { AgentCard } from '../api/agent-card.ts';
import { fieldManagers } from '../api/names.ts';
import type { Controller } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import { type WorkloadKind, type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import { namespaces } from '../workload/watches.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { decideOrphan, goneTrigger, observeOrphan, type Orphan } from './orphan.ts';
import { cardTrigger } from './triggers.ts';

/** The kinds that serve a card for as long as they run. Any other workload may still have one made by hand. */
const discovered: readonly WorkloadKind[] = ['Deployment', 'StatefulSet'];
const rows = workloadRows.filter(({ kind }) => discovered.includes(kind));

/** One controller a kind, so that a kind that cannot be read stops its own discovery alone (RB-02); and one for cards that were left behind. */
export function createAgentCardSyncControllers(): readonly Controller[] {
  return [...rows.map(controllerOf), orphans as unknown as Controller];
}

function controllerOf(row: WorkloadRow): Controller {
  return {
    name: `agentcardsync-${row.kind.toLowerCase()}`,
    fieldManager: fieldManagers.agentCardSync,
    primary: row.watch,
    reads: [namespaces],
    triggers: [cardTrigger(row)],
    wakeOn: 'spec',
    observe: (workload, gathering) => observe(workload, row, gathering),
    decide: (observed) => decide(observed as Awaited<ReturnType<typeof observe>>),
  };
}

/** Owners are no part of a spec: any change wakes it. */
const orphans: Controller<AgentCard, Orphan, never> = {
  name: 'agentcardsync-orphans',
  fieldManager: fieldManagers.agentCardSync,
  primary: agentCards,
  reads: [namespaces],
  optional: rows.map((row) => row.watch),
  triggers: rows.map(goneTrigger),
  wakeOn: 'any',
  observe: observeOrphan,
  decide: decideOrphan,
};
