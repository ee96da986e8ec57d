/** What the AgentCard controller sees of one card's world: one value, gathered by `observe`, judged by `decide`. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { agentCardReasons } from '../api/conditions.ts';
import type { ObjectRef } from '../engine/types.ts';
import type { Verification } from '../signature/verify.ts';
import type { Target } from '../workload/find.ts';
import type { Assessment } from './assess.ts';
import type { Binding } from './binding.ts';
import type { Contact, Received } from './contact.ts';
import type { Whereabouts } from './endpoint.ts';
import type { Bundle } from './trust-bundle.ts';

/** Whether and how signatures are verified: the same for every card of an install. */
export interface Policy {
  readonly isRequired: boolean;
  /** Verdicts are told and nothing follows from them. */
  readonly isAudit: boolean;
  readonly profiles: 'all' | 'jcs';
}

/** Why nobody is asked. */
export interface Obstacle {
  readonly reason: (typeof agentCardReasons.Synced)[number];
  readonly message: string;
  /** This is no agent of ours to ask: what was known of it is void. Else it is only out of reach for a while, as by a failed fetch. */
  readonly isFinal: boolean;
}

/** Everything `obstacleOf` looks at. */
export interface Facts {
  readonly card: AgentCard;
  readonly target: Target;
  /** The AgentCard that counts for this target, when that is another one. */
  readonly winner: AgentCard | undefined;
  /** What the workload's labels say it speaks, the one to be told first. */
  readonly protocols: readonly string[];
  /** The AgentRuntime that names the workload, where there is one and it can be read. */
  readonly runtime?: AgentRuntime | undefined;
  /** Where the card is asked for; undefined while there is no workload to ask. */
  readonly whereabouts: Whereabouts | undefined;
}

/** What is known from asking, in this process. */
export interface Talk {
  /** The last card that was received of this very workload. */
  readonly received: Received | undefined;
  readonly failure: Contact['failure'];
  readonly answeredAt: Date | undefined;
  /** The one that is asked now has answered. */
  readonly isAnswered: boolean;
  /** No answer for so long that a verdict does not stand any more. */
  readonly isLost: boolean;
  /** When it will be lost, where nobody else tells. */
  readonly lostAt: Date | undefined;
  /** How the one that is asked was found. */
  readonly via: string;
}

/** A workload or pod, and the value of the verified label on it. */
export interface Marked {
  readonly ref: ObjectRef;
  readonly value: string | undefined;
}

export interface Observed extends Facts {
  readonly policy: Policy;
  /** What was said of this target before. */
  readonly kept: AgentCardStatus;
  /** Whether a signature of the card in it is good now; looked at only until the agent has answered in this process. */
  readonly keptSignature: Verification | undefined;
  readonly obstacle: Obstacle | undefined;
  readonly talk: Talk;
  readonly binding: Binding;
  /** Undefined where signatures are not verified. */
  readonly bundle: Bundle | undefined;
  /** Of the card that was received; undefined: none, or its body is not kept and it is asked for again. */
  readonly assessment: Assessment | undefined;
  /** The workload and its pods. Those that must only lose the label are in `strays`. */
  readonly marked: readonly Marked[];
  /** Pods that end, or of which we only know by the label: they may lose it and never get it. */
  readonly strays: readonly Marked[];
  /** What carries the label on behalf of the target remembered in status, which is no longer ours. */
  readonly former: readonly Marked[];
  /** Another AgentCard has the same target and will look after its labels. */
  readonly hasHeir: boolean;
}
