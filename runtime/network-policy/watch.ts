/** The NetworkPolicies of the watched namespaces: ours whole, of others' no more than that they are there, for which pods, and whose they seem to be. */

import { kinds } from '../api/kinds.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
import { labels } from '../api/names.ts';
import type { Watch } from '../engine/types.ts';
import { keepMetadata } from '../workload/keep.ts';
import { controllingCard, isOurs, markOf } from './ownership.ts';

/** Index `card`: the uid of the AgentCard that controls it. */
export const networkPolicies: Watch<NetworkPolicy> = Object.freeze({
  id: 'networkpolicies',
  kind: kinds.networkPolicy,
  keep,
  indexes: { card: cardUid },
});

function keep(policy: NetworkPolicy): NetworkPolicy {
  const { apiVersion, kind, metadata, spec } = policy;
  if (isOurs(policy)) {
    const mark = markOf(policy);
    const kept = { ...keepMetadata(metadata), ...(mark.length === 0 ? {} : { managedFields: mark }) };
    return { apiVersion, kind, metadata: kept, ...(spec === undefined ? {} : { spec }) };
  }
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  const controllers = metadata.ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  const said = Object.entries(metadata.labels ?? {}).filter(([key]) => ourLabels.includes(key));
  const kept = {
    ...(controllers.length === 0 ? {} : { ownerReferences: controllers }),
    ...(said.length === 0 ? {} : { labels: Object.fromEntries(said) }),
  };
  // One of ours whose record was taken away is repaired for the same pods, also while no workload says which.
  const pods = spec === undefined ? {} : { spec: { podSelector: spec.podSelector } };
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ...kept }, ...pods };
}

/** By which one that is not on record as ours looks like ours. */
const ourLabels: readonly string[] = [labels.managedBy, labels.policyType];

function cardUid(policy: NetworkPolicy): readonly string[] {
  const card = isOurs(policy) ? controllingCard(policy) : undefined;
  return card === undefined ? [] : [card.uid];
}
