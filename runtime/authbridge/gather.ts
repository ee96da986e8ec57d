/** Reads what a decision depends on: from the cache, and by one request where the cache says "not there". */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { groupOf } from '../api/target-ref.ts';
import { spiffeCsiDriver } from '../config/components.ts';
import { markerOf } from '../config/marker.ts';
import type { LayerReader } from '../config/read.ts';
import type { AdmissionRequest, KubeObject, LiveReader, OwnerReference, Reader } from '../engine/types.ts';
import { matches, type Owner, ownerOf } from '../workload/owner.ts';
import { agentRuntimes, csiDrivers, enrolledReplicaSets, namespaces, targetIndex } from '../workload/watches.ts';
import { basicEligibility } from './eligibility.ts';
import { firstRuntime } from '../workload/first-runtime.ts';
import { isAddedSince, templateOf } from './origin.ts';
import { malformation } from './shape.ts';
import type { PodOwner, Snapshot } from './snapshot.ts';

export interface Sources {
  readonly reader: Reader;
  readonly live: LiveReader;
  readonly layers: LayerReader;
  /** Whether the API server is 1.29 or later. */
  readonly nativeSidecars: () => boolean;
  readonly operatorNamespace: string;
}

/**
 * The snapshot for one request. With a warm cache no request is made, but for a pod that claims to be injected. Throws when something cannot be read, which denies; but not for a pod
 * that its labels or the gates settle already: the kill switch works with the API server down.
 */
export async function gather(request: AdmissionRequest<Pod>, sources: Sources): Promise<Snapshot> {
  const { reader, layers, nativeSidecars, operatorNamespace } = sources;
  const { operation, object: pod, namespace } = request;
  const basics = { operation, pod, namespace, operatorNamespace, layers: layers.lastGood(reader, namespace) };
  const nothing = {
    namespaceLabels: {},
    owner: undefined,
    runtime: undefined,
    csiDriver: false,
    isAddedAtAdmission: false,
  };
  if (pod === undefined || malformation(pod) !== undefined || basicEligibility(basics).settled !== undefined) {
    return { ...basics, ...nothing, nativeSidecars: nativeSidecars() };
  }
  const owner = await readOwner(pod, namespace, sources);
  const runtime = await readRuntime(owner, namespace, sources);
  return {
    ...basics,
    namespaceLabels: await readNamespaceLabels(namespace, sources),
    owner: podOwner(owner),
    runtime,
    csiDriver: reader.get(csiDrivers, { name: spiffeCsiDriver }) !== undefined,
    nativeSidecars: nativeSidecars(),
    isAddedAtAdmission: await readOrigin(pod, request, sources),
  };
}

/** Asked only of a pod that claims to be injected: the template it is made from is read, past the cache. */
async function readOrigin(pod: Pod, { user, namespace }: AdmissionRequest<Pod>, { live }: Sources): Promise<boolean> {
  const template = markerOf(pod).state === 'claimed' ? templateOf(pod, user) : undefined;
  const found = template === undefined ? undefined : await live.get(template.kind, { namespace, name: template.name });
  return found !== undefined && isAddedSince(pod, found);
}

/** The AgentRuntime for an owner among some; the oldest of several. */
export function runtimeOf(owner: Owner, runtimes: readonly AgentRuntime[]): AgentRuntime | undefined {
  return firstRuntime(runtimes.filter(({ spec }) => matches(owner, spec.targetRef)));
}

/** By the cache's index: that there is none is confirmed by one live list. */
async function readRuntime(
  owner: Owner,
  namespace: string,
  { reader, live }: Sources,
): Promise<AgentRuntime | undefined> {
  if ('none' in owner) return undefined;
  const { kind, group, name } = owner;
  const index =
    kind === undefined || group === undefined
      ? { name: 'targetName', value: name }
      : { name: 'target', value: targetIndex({ apiVersion: `${group}/v1`, kind, name }) };
  const cached = runtimeOf(owner, reader.list(agentRuntimes, { namespace, index }));
  return cached ?? runtimeOf(owner, await live.list(kinds.agentRuntime, { namespace }));
}

/** The pod's workload. What stands between (ReplicaSet, Job) is read before, because `ownerOf` itself reads nothing. */
async function readOwner(pod: Pod, namespace: string, sources: Sources): Promise<Owner> {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const between = owner === undefined ? undefined : await readBetween(owner, namespace, sources);
  return ownerOf(pod, () => between ?? 'unknown');
}

async function readBetween(
  owner: OwnerReference,
  namespace: string,
  { reader, live }: Sources,
): Promise<KubeObject | undefined> {
  const key = { namespace, name: owner.name };
  switch (`${groupOf(owner.apiVersion)}/${owner.kind}`) {
    case 'apps/ReplicaSet': {
      const cached = reader.get(enrolledReplicaSets, key);
      return cached?.metadata.uid === owner.uid ? cached : await live.get(kinds.replicaSet, key);
    }
    case 'batch/Job':
      return await live.get(kinds.job, key);
    default:
      return undefined;
  }
}

/** A namespace the cache has not heard of yet is read: its Pod Security level must not be guessed. */
async function readNamespaceLabels(
  namespace: string,
  { reader, live }: Sources,
): Promise<Readonly<Record<string, string>>> {
  const found = reader.get(namespaces, { name: namespace }) ?? (await live.get(kinds.namespace, { name: namespace }));
  return found?.metadata.labels ?? {};
}

/** The owner as messages name it. */
export function podOwner(owner: Owner): PodOwner | undefined {
  return 'none' in owner ? undefined : { kind: owner.kind ?? 'workload', name: owner.name };
}
