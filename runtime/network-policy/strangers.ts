/** Tells pods that outlive their workload from those of another one with the same labels, which is there to stay. */

import type { Pod } from '../api/kubernetes.ts';
import { kinds } from '../api/kinds.ts';
import { groupOf } from '../api/target-ref.ts';
import type { Gathering, KubeObject, LiveReader, OwnerReference } from '../engine/types.ts';
import { lookUpTarget } from '../workload/find.ts';
import { declaredController } from '../workload/owner.ts';
import type { Former } from './former.ts';

export interface Sorted {
  readonly outliving: readonly Pod[];
  /** `Deployment other`: whose the rest are, each once; not a namesake of the workload, which has a policy of its own. */
  readonly strangers: readonly string[];
}

/** An owner of a kind that is not read here. No pod of a workload that is gone has one. */
const unseen = 'unseen';
type Look = (owner: OwnerReference) => Promise<KubeObject | typeof unseen | undefined>;

/** More links than any chain of controllers has; longer ones, which somebody made up, are not believed. */
const longestChain = 4;

/** A pod that is being deleted ends by itself, and nobody's chain is looked at for it. */
export async function sortPods(pods: readonly Pod[], former: Former, gathering: Gathering): Promise<Sorted> {
  const outliving: Pod[] = [];
  const strangers = new Set<string>();
  const namespace = pods[0]?.metadata.namespace ?? '';
  const look = lookIn(namespace, former, gathering);
  for (const pod of pods) {
    const owner = pod.metadata.deletionTimestamp === undefined ? await stayingOwner(pod, look) : undefined;
    if (owner === undefined) outliving.push(pod);
    else strangers.add(`${owner.kind} ${owner.name}`);
  }
  strangers.delete(`${former.ref.kind} ${former.ref.name}`);
  return { outliving, strangers: [...strangers].toSorted() };
}

/** The end of a chain of controllers of which every one is there and none is being deleted. Every doubt is none: then the pod stays closed. */
async function stayingOwner(object: KubeObject, look: Look, depth = 0): Promise<OwnerReference | undefined> {
  const owner = declaredController(object);
  if (owner === undefined || depth === longestChain) return undefined;
  const found = await look(owner);
  if (found === unseen) return owner;
  if (found === undefined || found.metadata.uid !== owner.uid) return undefined;
  if (found.metadata.deletionTimestamp !== undefined) return undefined;
  if (declaredController(found) !== undefined) return stayingOwner(found, look, depth + 1);
  // One that nobody controls may have been left behind by the Deployment that is gone (`--cascade=orphan`).
  return isReplicaSet(owner) ? undefined : owner;
}

/** The workload itself as the API server has it, ReplicaSets too, since the cache holds those of agents alone; all else from the cache. */
function lookIn(namespace: string, { ref, live: itself }: Former, { reader, live }: Gathering): Look {
  const replicaSets = new Map<string, Promise<KubeObject | undefined>>();
  return async (owner) => {
    const { kind, name } = owner;
    if (isReplicaSet(owner)) {
      const found = replicaSets.get(name) ?? replicaSetOf(live, namespace, name);
      replicaSets.set(name, found);
      return found;
    }
    if (kind === ref.kind && name === ref.name && groupOf(owner.apiVersion) === groupOf(ref.apiVersion)) return itself;
    const target = lookUpTarget(reader, namespace, owner);
    if ('found' in target) return target.found.object;
    return 'missing' in target ? undefined : unseen;
  };
}

async function replicaSetOf(live: LiveReader, namespace: string, name: string): Promise<KubeObject | undefined> {
  const named = await live.list(kinds.replicaSet, { namespace, fields: `metadata.name=${name}` });
  return named.find(({ metadata }) => metadata.name === name);
}

function isReplicaSet({ apiVersion, kind }: OwnerReference): boolean {
  return kind === kinds.replicaSet.kind && groupOf(apiVersion) === groupOf(kinds.replicaSet.apiVersion);
}
