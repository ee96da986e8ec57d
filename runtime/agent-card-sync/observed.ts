/** What one pass over a workload knows. */

import type { AgentCard } from '../api/agent-card.ts';
import type { Workload } from '../workload/workload.ts';

/** From the cache alone. */
export interface Facts {
  readonly workload: Workload;
  /** The namespace is being deleted: nothing can be made in it, and all of it goes. */
  readonly isTerminating: boolean;
  /** The cards that target the workload, those that are being deleted included. */
  readonly cards: readonly AgentCard[];
  /** The card of the generated name, whatever it targets. */
  readonly named: AgentCard | undefined;
}

export interface Observed extends Facts {
  /** Who else has written the spec of the generated card that is to go; looked up only then. */
  readonly appliedOverBy: string | undefined;
}
