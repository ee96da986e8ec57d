/** A card that is being deleted amid what the API server and the cache hold, and what is found of the pods that outlive its workload. */

import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import type { NetworkPolicy, Pod } from '../../../runtime/api/kubernetes.ts';
import { configWatches, createLayerReader } from '../../../runtime/config/read.ts';
import type { KubeObject, LiveReader, OwnerReference, Watch } from '../../../runtime/engine/types.ts';
import { gatherOutlived } from '../../../runtime/network-policy/gather.ts';
import { networkPolicies } from '../../../runtime/network-policy/watch.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { namespaces } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, condition, policy, selector, workload } from './fixtures.ts';

const watches = configWatches('rossoctl-system');
const noFile = { current: { text: undefined, path: '/etc/x' }, subscribe: () => () => {} };
const layers = createLayerReader({
  watches,
  operatorNamespace: 'rossoctl-system',
  configFile: noFile,
  gatesFile: noFile,
});

export interface World {
  readonly deleted?: boolean;
  readonly namespace?: string;
  /** After the deletion, in milliseconds. */
  readonly afterMs?: number;
  /** Beside the workload: in the cache, and ReplicaSets as the API server has them. */
  readonly others?: readonly KubeObject[];
  readonly replicaSets?: readonly KubeObject[];
  readonly reason?: string | undefined;
  readonly owner?: string;
  readonly policies?: readonly NetworkPolicy[];
  /** As the cache has it, and as the API server does. */
  readonly cached?: KubeObject;
  readonly there?: KubeObject;
  /** Beside the one that is being deleted, in the cache. */
  readonly cards?: readonly AgentCard[];
  /** Of the cache, after the first look. */
  readonly policiesLater?: readonly NetworkPolicy[];
  readonly pods?: readonly Pod[];
  /** After the first look. */
  readonly podsLater?: readonly Pod[];
  readonly ending?: KubeObject;
}

export function pod(name: string, more: Partial<Pod['metadata']> = {}, phase = 'Running'): Pod {
  const labels = selector.matchLabels ?? {};
  const metadata = { namespace: 'team1', name, uid: `uid-${name}`, labels, creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ...more },
    spec: { containers: [] },
    status: { phase },
  };
}

function cardOf({ deleted = true, reason = 'Restrictive', owner, namespace = 'team1' }: World): AgentCard {
  const isWritten = reason === 'Restrictive' ? 'True' : 'False';
  const conditions = reason === 'none' ? [] : [condition('NetworkPolicyReady', isWritten, { reason })];
  const of = card({ deleted, namespace, status: { conditions } });
  const { apiVersion, kind, name } = of.spec.targetRef;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion, kind, name, uid: owner }];
  return { ...of, metadata: { ...of.metadata, ownerReferences } };
}

/** What is found, and what the API server was asked for. */
export async function look(world: World) {
  const { policies = [policy()], cached, there, pods = [pod('a')], ending, others = [], replicaSets = [] } = world;
  const inCache = [...(cached === undefined ? [] : [cached]), ...others];
  const of = cardOf(world);
  const cache = new Map<Watch, readonly KubeObject[]>([
    [networkPolicies as Watch, policies],
    [agentCards as Watch, [of, ...(world.cards ?? [])]],
    [namespaces, ending === undefined ? [] : [ending]],
    ...workloadRows.map(({ watch, kind }): [Watch, readonly KubeObject[]] => [
      watch,
      inCache.filter((one) => one.kind === kind),
    ]),
  ]);
  const reader = readerOf(cache);
  const asked: string[] = [];
  const found: Record<string, readonly KubeObject[]> = {
    Pod: pods,
    ReplicaSet: replicaSets,
    Deployment: there === undefined ? [] : [there],
  };
  const live: LiveReader = {
    get: () => Promise.reject(new Error('no single object is asked for')),
    list: (kind, where) => {
      asked.push([kind.kind, where?.labels ?? where?.fields].join(' '));
      return Promise.resolve((found[kind.kind] ?? []) as never);
    },
  };
  const signal = AbortSignal.any([]);
  const now = () => new Date(Date.parse(of.metadata.deletionTimestamp ?? '') + (world.afterMs ?? 0));
  const pause = (): Promise<void> => {
    found['Pod'] = world.podsLater ?? pods;
    cache.set(networkPolicies as Watch, world.policiesLater ?? policies);
    return Promise.resolve();
  };
  const by = { layers, operatorNamespace: 'rossoctl-system', now, pause };
  const outlived = await gatherOutlived(of, { reader, live, signal }, by);
  return {
    names: outlived.map(({ pods: those }) => those.map(({ metadata }) => metadata.name).join()),
    strangers: outlived.flatMap(({ strangers }) => strangers),
    asked,
    outlived,
  };
}

export const { object } = workload();
export const deletionTimestamp = '2026-01-01T01:00:00Z';
export const goingOf = (one: KubeObject): KubeObject => ({ ...one, metadata: { ...one.metadata, deletionTimestamp } });
export const going = goingOf(object);
export const finalizers = ['foregroundDeletion'];
export const inForeground = { ...going, metadata: { ...going.metadata, finalizers } };

export const named = (kind: string, name: string, apiVersion = 'apps/v1'): KubeObject => ({
  apiVersion,
  kind,
  metadata: { namespace: 'team1', name, uid: `uid-${kind}-${name}` },
});

export function controlledBy({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true };
}
