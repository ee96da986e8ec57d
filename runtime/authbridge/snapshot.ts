/** What the injection decision knows and what it concludes: the values that pass between `gather`, `judge` and the command line. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import type { Choice, Components, ContainerName } from '../config/components.ts';
import type { Effective, Layers } from '../config/layers.ts';
import type { AdmissionRequest, Verdict } from '../engine/types.ts';

/** The workload behind a pod, as far as the decision and its messages need it. */
export interface PodOwner {
  readonly kind: string;
  readonly name: string;
}

/** Everything the decision depends on: the pod and the cluster's state at that moment. */
export interface Snapshot {
  readonly operation: AdmissionRequest['operation'];
  /** Absent on DELETE, and when the request is not about a pod. */
  readonly pod: Pod | undefined;
  /** Of the request: the pod itself often carries none. */
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly owner: PodOwner | undefined;
  /** The AgentRuntime that targets the pod's workload; the oldest when there are several. */
  readonly runtime: AgentRuntime | undefined;
  readonly layers: Layers;
  /** The SPIFFE CSI driver is installed. */
  readonly csiDriver: boolean;
  /** The API server knows init containers with `restartPolicy: Always` (1.29 and later). */
  readonly nativeSidecars: boolean;
  readonly operatorNamespace: string;
  /** What the pod has of our containers was added earlier in the same request: the template that it is made from has none of them. */
  readonly isAddedAtAdmission: boolean;
}

/** One step of the decision, for people. */
export interface Step {
  readonly step: string;
  readonly passed: boolean;
  readonly reason: string;
}

export type { Choice, Components, ContainerName };

/** Why a request was answered as it was: the bounded set of metric labels. */
export type Reason =
  | 'Injected'
  | 'NotAPod'
  | 'NotACreate'
  | 'SystemNamespace'
  | 'NotLabelled'
  | 'ToolsNotInjected'
  | 'OptedOut'
  | 'InjectionOff'
  | 'NoAgentRuntime'
  | 'AlreadyInjected'
  | 'NothingToInject'
  | 'InvalidPod'
  | 'ConfigInvalid'
  | 'MarkerForged'
  | 'ContainerNameTaken'
  | 'VolumeNameTaken'
  | 'HostNetworkConflict'
  | 'PodSecurityConflict'
  | 'SpiffeUnavailable'
  | 'ProxyUidTaken'
  | 'PortConflict'
  | 'InvalidAnnotation'
  | 'UnsupportedOS';

/** A request refused: the reason and one sentence with the remedy. */
export interface Refusal {
  readonly reason: Reason;
  readonly note: string;
}

/** The decision with everything that led to it. */
export interface Judgement {
  readonly verdict: Verdict<Pod>;
  readonly steps: readonly Step[];
  /** Absent when the decision ended before components were looked at. */
  readonly components?: Components | undefined;
  /** Absent when the decision ended before configuration was looked at. */
  readonly effective?: Effective | undefined;
  /** The SPIFFE ID an injected pod will have: by the same rule as the controller's (report PM-08). Absent without SPIFFE. */
  readonly identity?: string | undefined;
}
