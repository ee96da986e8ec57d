/** What the enrolment controller sees of one AgentRuntime's world: one value, gathered by `observe`, judged by `decide`. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import type { Effective, LayerProblem } from '../config/layers.ts';
import type { Target } from '../workload/find.ts';
import type { PodCounts } from '../workload/pod-counts.ts';
import type { Workload } from '../workload/workload.ts';
import type { Standing } from './reversals.ts';
import type { Place } from './rollouts.ts';
import type { Snag } from './snags.ts';

/** A running pod of the target, reduced to what status reports. */
export interface PodFacts {
  readonly name: string;
  /** It carries our marker and our containers: it was injected. */
  readonly isInjected: boolean;
  /** The hash it was built from. */
  readonly hash: string | undefined;
  /** It was built with the compiled defaults of this release. */
  readonly hasOurDefaults: boolean;
  readonly createdAt: string;
}

/** The configuration of the namespace with the AgentRuntime on top, or why there is none. */
export type Configuration =
  | {
      readonly kind: 'usable';
      /** Of all layers but the AgentRuntime: what a change of restarts pods. */
      readonly hash: string;
      /** Without the AgentRuntime: what the namespace's ConfigMap says. */
      readonly shared: Effective;
      readonly effective: Effective;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'broken'; readonly problems: readonly LayerProblem[] };

export interface NamespaceFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** Nothing can be created in it any more. */
  readonly isTerminating: boolean;
}

/** Everything `step` looks at: the first part of an observation, taken before a place in the rollout is asked for. */
export interface Facts {
  readonly runtime: AgentRuntime;
  readonly target: Target;
  /** Other AgentRuntimes with the same target that are not being deleted, the one that wins first. */
  readonly rivals: readonly AgentRuntime[];
  readonly configuration: Configuration;
  readonly namespace: NamespaceFacts;
  /** True when the install injects only in namespaces that say so. */
  readonly needsEnabledNamespace: boolean;
  /** The operator's own, in which pods are never injected. */
  readonly operatorNamespace: string;
  readonly hasCsiDriver: boolean;
}

export interface Observed extends Facts {
  /** The workload remembered in status that is no longer the target and is to be released: still itself, and nobody else's target. */
  readonly former: Workload | undefined;
  readonly pods: readonly PodFacts[];
  /** By the workload's own status, pods that no watch of ours sees included. */
  readonly counts: PodCounts;
  /** Pods from before the enrolment: they exist, and the watch does not see them. */
  readonly unseen: number;
  /** What is wrong with them, of a workload that is enrolled. */
  readonly snag: Snag | undefined;
  /** False when the template names a ServiceAccount that does not exist. */
  readonly hasServiceAccount: boolean;
  readonly authBridge: ConfigMap | undefined;
  /** Another AgentRuntime of the namespace remains, which needs the namespace's ConfigMap. Looked at on deletion only. */
  readonly hasNeighbours: boolean;
  readonly place: Place;
  readonly standing: Standing;
}
