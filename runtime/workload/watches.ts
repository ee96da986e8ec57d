/** The watches that several features share: passing the same constant shares one informer. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import type { EndpointSlice, Pod, Service } from '../api/kubernetes.ts';
import { agentTypes } from '../api/agent-runtime.ts';
import { labels } from '../api/names.ts';
import { groupOf, type TargetRef } from '../api/target-ref.ts';
import type { KubeObject, Watch } from '../engine/types.ts';
import { keepPod } from './keep-pod.ts';
import { keepEndpointSlice, keepService, serviceLabel } from './keep-service.ts';
import { controllerUid } from './owner.ts';

const enrolled = `${labels.type} in (${agentTypes.join(',')})`;

/** Pods of enrolled workloads: labels, owners, our annotations, container names and ports (`keepPod`), phase, conditions and addresses. Index `owner`: the controller's uid. */
export const enrolledPods: Watch<Pod> = Object.freeze({
  id: 'enrolled-pods',
  kind: kinds.pod,
  labels: enrolled,
  keep: keepPod,
  indexes: { owner: controllerUid },
});

/** ReplicaSets of enrolled Deployments (they inherit the template's labels). Indexes: `uid` its own, `owner` its controller's. */
export const enrolledReplicaSets: Watch = Object.freeze({
  id: 'enrolled-replicasets',
  kind: kinds.replicaSet,
  labels: enrolled,
  metadataOnly: true,
  indexes: { uid: ownUid, owner: controllerUid },
});

/**
 * Services, reduced to what says whom they reach. Index `selector`: one pair of the selector (`selectorIndex`), so that whoever asks for each
 * label of a pod finds every Service that may select it, each once.
 */
export const services: Watch<Service> = Object.freeze({
  id: 'services',
  kind: kinds.service,
  keep: keepService,
  indexes: { selector: selectorPair },
});

/** Where the pods of headless Services listen; of other Services nothing is kept. Index `service`: the Service's name. */
export const endpointSlices: Watch<EndpointSlice> = Object.freeze({
  id: 'endpointslices',
  kind: kinds.endpointSlice,
  labels: 'service.kubernetes.io/headless',
  keep: keepEndpointSlice,
  indexes: { service: serviceName },
});

export const namespaces: Watch = Object.freeze({ id: 'namespaces', kind: kinds.namespace, metadataOnly: true });

export const serviceAccounts: Watch = Object.freeze({
  id: 'serviceaccounts',
  kind: kinds.serviceAccount,
  metadataOnly: true,
});

/** The SPIFFE CSI driver, when the cluster has one. */
export const csiDrivers: Watch = Object.freeze({
  id: 'csidrivers',
  kind: kinds.csiDriver,
  name: 'csi.spiffe.io',
  metadataOnly: true,
});

/**
 * Indexes: `target` by `targetIndex(ref)`, `targetName` by the target's bare name (for a pod whose owner's kind is not known), `namespace` for
 * whoever asks about any namespace, also one that this install does not watch.
 */
export const agentRuntimes: Watch<AgentRuntime> = Object.freeze({
  id: 'agentruntimes',
  kind: kinds.agentRuntime,
  indexes: {
    target: (runtime: AgentRuntime) => (runtime.spec?.targetRef ? [targetIndex(runtime.spec.targetRef)] : []),
    namespace: ({ metadata }: AgentRuntime) => [metadata.namespace ?? ''],
    targetName: (runtime: AgentRuntime) => (runtime.spec?.targetRef ? [runtime.spec.targetRef.name] : []),
  },
});

/** The value under which index `target` finds the AgentRuntimes of a workload: `apps/Deployment/weather`. Combine with the namespace. */
export function targetIndex(ref: TargetRef): string {
  return `${groupOf(ref.apiVersion)}/${ref.kind}/${ref.name}`;
}

/** The value of index `selector` for one pair of labels. */
export function selectorIndex(key: string, value: string): string {
  return `${key}=${value}`;
}

/** The first pair by key: any one would do. */
function selectorPair({ spec }: Service): readonly string[] {
  const [first] = Object.entries(spec?.selector ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return first === undefined ? [] : [selectorIndex(...first)];
}

function serviceName({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.[serviceLabel];
  return name === undefined ? [] : [name];
}

function ownUid(object: KubeObject): readonly string[] {
  return object.metadata.uid === undefined ? [] : [object.metadata.uid];
}
