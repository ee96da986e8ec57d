/** The NetworkPolicy of pods that outlive their workload: closed, and gone with the last of them. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { LabelSelector, NetworkPolicy, Pod } from '../api/kubernetes.ts';
import { labels, labelValue, managedBy, networkPolicyName, policyType } from '../api/names.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import { sha256Hex } from '../encoding/digest.ts';
import type { Fragment, Notice, OwnerReference } from '../engine/types.ts';
import { restrictiveRules, type Surroundings } from './policies.ts';

/** Pods whose workload is gone, which one selector finds. */
export interface Outlived {
  /** Of the workload that is gone. */
  readonly card: AgentCard;
  readonly podSelector: LabelSelector;
  /** At least one. */
  readonly pods: readonly Pod[];
  /** `Deployment other`: workloads that stay and whose pods it finds as well. */
  readonly strangers: readonly string[];
  readonly surroundings: Surroundings;
}

/**
 * Restrictive whatever the verdict was, which ends with the card: an open one would open any later pod with these labels, and no verdict would
 * stand behind it. Owned by the pods alone, so that the garbage collector removes it with the last of them, also without an operator. Its
 * name is its own: a later workload of this name has its policy beside it, and what that one opens is open.
 */
export function leftoverPolicy({ card, podSelector, pods, surroundings }: Omit<Outlived, 'strangers'>): Fragment {
  const { namespace = '', name = '' } = card.metadata;
  const { apiVersion, kind } = kinds.networkPolicy;
  const body: NetworkPolicy = {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name: nameOf({ card, podSelector }),
      labels: {
        [labels.managedBy]: managedBy,
        [labels.agentCard]: labelValue(name),
        [labels.policyType]: policyType,
      },
      ownerReferences: ownersAmong(pods),
    },
    spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ...restrictiveRules(surroundings) },
  };
  return { kind: kinds.networkPolicy, body: body as Fragment['body'] };
}

function nameOf({ card, podSelector }: Pick<Outlived, 'card' | 'podSelector'>): string {
  const { uid = '' } = card.metadata;
  const digest = sha256Hex(canonicalJson({ uid, podSelector })).slice(0, 8);
  return networkPolicyName(card.spec.targetRef.name, digest);
}

/** An object of a few hundred bytes an owner, which each of them makes the collector look at again. */
const mostOwners = 100;

/** Of more pods those that stay longest: the time of deletion is when the grace period ends, and whoever is not being deleted has none yet. */
function ownersAmong(pods: readonly Pod[]): readonly OwnerReference[] {
  const { apiVersion, kind } = kinds.pod;
  return pods
    .toSorted((a, b) => inOrder(endOf(b), endOf(a)) || inOrder(a.metadata.name ?? '', b.metadata.name ?? ''))
    .slice(0, mostOwners)
    .map(({ metadata: { name = '', uid = '' } }) => ({ apiVersion, kind, name, uid }));
}

/** RFC 3339 in UTC, as the API server writes it: text that sorts as the times do, and before the last of all. */
function endOf({ metadata }: Pod): string {
  return metadata.deletionTimestamp ?? '~';
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a !== b);
}

const mostNamed = 3;

/** Told where the policy closes pods of others for as long as it is there. */
export function leftoverNotices({ card, podSelector, strangers }: Outlived): readonly Notice[] {
  if (strangers.length === 0) return [];
  const { kind, name } = card.spec.targetRef;
  const more = strangers.length > mostNamed ? ` and ${strangers.length - mostNamed} more` : '';
  const others = `${strangers.slice(0, mostNamed).join(', ')}${more}`;
  const note = `NetworkPolicy ${nameOf({ card, podSelector })} closes the pods that outlive ${kind} ${name} until the last of them has ended, and meanwhile those of ${others}, which it selects as well. Give the pods of different workloads different labels.`;
  return [{ type: 'Warning', reason: 'NetworkPolicySelectsOthers', action: 'EnforceNetworkPolicy', note }];
}
