/** The discovery of agents: enrolled workloads with a protocol in, AgentCards for them out. Wiring only. */

import { fieldManagers } from '../api/names.ts';
import type { Controller } from '../engine/types.ts';
import { type WorkloadKind, type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import { namespaces } from '../workload/watches.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { cardTrigger } from './triggers.ts';

/** The kinds that serve a card for as long as they run. Any other workload may still have one made by hand. */
const discovered: readonly WorkloadKind[] = ['Deployment', 'StatefulSet'];

/** One controller a kind, so that a kind that cannot be read stops its own discovery alone (RB-02). */
export function createAgentCardSyncControllers(): readonly Controller[] {
  return workloadRows.filter(({ kind }) => discovered.includes(kind)).map(controllerOf);
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
