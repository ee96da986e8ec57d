/** What the answers of the webhooks mean, and what to do. */

import type { conflictReasons } from '../../../runtime/api/conditions.ts';
import type { Reason } from '../../../runtime/authbridge/snapshot.ts';
import type { Meanings } from './meanings.ts';

/** Why `inject.rossoctl.io` refuses a pod. */
type Refusals = (typeof conflictReasons)[number] | 'InvalidPod' | 'ConfigInvalid' | 'PortConflict';

export const refusedPodMeanings: Meanings<Refusals> = {
  InvalidPod: 'The pod is malformed.',
  ConfigInvalid: 'A configuration layer cannot be used and no good one is known. Correct what the message names.',
  MarkerForged:
    'The pod claims to be injected, and its template has containers that are not as they would be injected now; the message says which and how. Take annotation and containers out of the template, they are added at admission; or run `npx rossoctl inject` again. If another registry is meant, say so in `images`.',
  ContainerNameTaken: 'Rename the container of that name.',
  VolumeNameTaken:
    'Rename the volume of that name, or take out the mount that the message names: injected volumes are for injected containers alone.',
  HostNetworkConflict: "`proxy-init` would redirect the node's own traffic: `authBridgeMode: proxy-sidecar`.",
  PodSecurityConflict:
    'The namespace forbids `proxy-init` its capabilities: `authBridgeMode: proxy-sidecar`. Or it forbids hostPath volumes: `spiffe.volume: csi`.',
  SpiffeUnavailable:
    '`mtlsMode: strict` without the CSI driver `csi.spiffe.io`, or with SPIFFE switched off by gate or label.',
  ProxyUidTaken:
    "The container runs as the proxy's user, so its traffic would bypass the proxy: another `runAsUser`, or another `proxy.uid` for the platform. Istio's own containers are let through with a warning.",
  PortConflict:
    'The application uses the configured port and every one above it; the message names port and container.',
  InvalidAnnotation: 'A list of ports in an annotation is none.',
  UnsupportedOS: 'The pod runs on Windows.',
};

/** Why `inject.rossoctl.io` lets a pod pass: injected, or as it is. */
export const passedPodMeanings: Meanings<Exclude<Reason, Refusals>> = {
  Injected: 'The containers were added.',
  NotAPod: 'The request is not about a Pod; nothing to do.',
  NotACreate: 'Only new pods are injected; nothing to do.',
  SystemNamespace: "Nothing is injected in Kubernetes' own namespaces and in the operator's.",
  NotLabelled: "The pod's template has no `rossoctl.io/type`: create an AgentRuntime, do not set the label.",
  ToolsNotInjected: 'Turn the gate `injectTools` on.',
  OptedOut: '`rossoctl.io/inject: disabled` is on the template.',
  InjectionOff: 'The gate `globalEnabled` is off.',
  NoAgentRuntime: 'It has the label, but no AgentRuntime targets its workload.',
  AlreadyInjected:
    'It carries our marker and our containers, as we make them or made them earlier in the same request.',
  NothingToInject: 'Every component is switched off by gate or label; `rossoctl inject --explain` lists them.',
};

/** Why `agentruntime.rossoctl.io` and `agentcard.rossoctl.io` refuse a resource. */
export const refusedResourceMeanings: Meanings<string> = {
  NoObject: 'The request holds no object.',
  SystemNamespace:
    "It is in one of Kubernetes' own namespaces or in the operator's, where there can be no agent. Create it and its workload in another namespace.",
  SpecRefused: 'A field of the spec cannot be as it is; the message begins with its path.',
  ListFailed: 'Whether another object has the target cannot be found out, so the answer is no. Try again.',
  DuplicateTarget: 'A workload has one AgentRuntime and one AgentCard; the message names the other. Change that one.',
};

/** Why they let it pass. */
export const passedResourceMeanings: Meanings<string> = {
  NotChecked: 'Only creations and updates are looked at.',
  BeingDeleted: 'The object is being deleted, which nothing holds up.',
  SpecUnchanged: 'Only metadata or status change.',
  TargetUnchanged: 'The target stays what it was.',
  TargetFree: 'No other object has the target.',
};

/** Answers of either without a decision: the API server then denies. */
export const failureMeanings: Meanings<string> = {
  malformed: 'HTTP 400. What was sent is no admission review; the message says why. Look at the webhook registration.',
  deadline: 'HTTP 500. The review took longer than the API server waits. Look at the load and at the API server.',
  failed:
    'HTTP 500. The review could not be made; the message holds an [error code](#error-codes), the log the whole of it.',
  other: 'More reasons than are counted one by one.',
};
