/** The NetworkPolicy of pods that outlive their workload: closed, and gone with the last of them. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { LabelSelector, NetworkPolicy, Pod } from '../api/kubernetes.ts';
import { labels, labelValue, managedBy, networkPolicyName, policyType } from '../api/names.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import { sha256Hex } from '../encoding/digest.ts';
import type { Fragment } from '../engine/types.ts';
import { restrictiveRules, type Surroundings } from './policies.ts';

/** Pods whose workload is gone, which one selector finds. */
export interface Outlived {
  /** Of the workload that is gone. */
  readonly card: AgentCard;
  readonly podSelector: LabelSelector;
  /** At least one. */
  readonly pods: readonly Pod[];
  readonly surroundings: Surroundings;
}

/**
 * Restrictive whatever the verdict was, which ends with the card: an open one would open any later pod with these labels, and no verdict would
 * stand behind it. Owned by the pods alone, so that the garbage collector removes it with the last of them, also without an operator. Its
 * name is its own: a later workload of this name has its policy beside it, and what that one opens is open.
 */
export function leftoverPolicy({ card, podSelector, pods, surroundings }: Outlived): Fragment {
  const { namespace = '', name = '', uid = '' } = card.metadata;
  const { apiVersion, kind } = kinds.networkPolicy;
  const digest = sha256Hex(canonicalJson({ uid, podSelector })).slice(0, 8);
  const body: NetworkPolicy = {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name: networkPolicyName(card.spec.targetRef.name, digest),
      labels: {
        [labels.managedBy]: managedBy,
        [labels.agentCard]: labelValue(name),
        [labels.policyType]: policyType,
      },
      ownerReferences: pods.map(({ metadata }) => ({
        apiVersion: kinds.pod.apiVersion,
        kind: kinds.pod.kind,
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
      })),
    },
    spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ...restrictiveRules(surroundings) },
  };
  return { kind: kinds.networkPolicy, body: body as Fragment['body'] };
}
