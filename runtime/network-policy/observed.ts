/** What the network policy controller sees of one AgentCard's world: one value, gathered by `observe`, judged by `decide`. */

import type { AgentCard } from '../api/agent-card.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
import type { LayerProblem } from '../config/layers.ts';
import type { Target } from '../workload/find.ts';
import type { Verdict } from '../workload/verdicts.ts';
import type { Surroundings } from './policies.ts';

export interface Observed {
  readonly card: AgentCard;
  /** What the operator itself found out about it; undefined: nothing yet. */
  readonly verdict: Verdict | undefined;
  /** Verdicts are reported and not acted on. */
  readonly isAudit: boolean;
  /** Nothing can be created in the namespace any more. */
  readonly isTerminating: boolean;
  /** This card is the one of its workload that counts. */
  readonly counts: boolean;
  readonly target: Target;
  /** With each layer of the configuration as it last was good. */
  readonly surroundings: Surroundings;
  /** Layers that are bad and were never seen good: what they set is unknown. */
  readonly problems: readonly LayerProblem[];
  /** The name of this card's policy. */
  readonly name: string;
  /** What is there under that name, whoever made it. */
  readonly policy: NetworkPolicy | undefined;
  /** The operator wrote that policy, whoever has changed it since. */
  readonly isOurs: boolean;
  /** Another AgentCard, which exists, that controls that policy. */
  readonly holder: AgentCard | undefined;
  /** Every policy that this card controls, under whatever name. */
  readonly own: readonly NetworkPolicy[];
  /** Names of those among them that another card takes over, because they are its name and select its workload's pods. */
  readonly awaited: ReadonlySet<string>;
}
