/** The NetworkPolicies of the watched namespaces: ours whole, of others' no more than that they are there. */

import { kinds } from '../api/kinds.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
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
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

function cardUid(policy: NetworkPolicy): readonly string[] {
  const card = controllingCard(policy);
  return card === undefined ? [] : [card.uid];
}
