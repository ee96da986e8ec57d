/** The two NetworkPolicies of an agent: permissive while its card is verified, restrictive otherwise. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { LabelSelector, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyRule } from '../api/kubernetes.ts';
import { annotations, apiVersion, labels, labelValue, managedBy, policyType } from '../api/names.ts';
import type { NetworkPolicySection, PeerOnPorts } from '../config/network-policy.ts';
import type { Fragment } from '../engine/types.ts';
import { dnsRules } from './dns.ts';
import { operatorPods, peerOf, portsOf, verifiedAgents } from './peers.ts';

export interface Surroundings {
  readonly operatorNamespace: string;
  readonly settings: NetworkPolicySection;
}

/** What a policy lets through. Never an empty list: the API server drops those, and a missing one would not be noticed. */
export interface Rules {
  readonly ingress: readonly NetworkPolicyRule[];
  readonly egress: readonly NetworkPolicyRule[];
}

/** Of an agent whose card is verified. */
export function permissiveRules({ operatorNamespace, settings }: Surroundings): Rules {
  const known = [verifiedAgents, operatorPods(operatorNamespace)];
  const from = sides(known, settings.ingressFrom).map(({ peers, ...rest }) => ({ ...rest, from: peers }));
  if (settings.verifiedEgress === 'open') return { ingress: from, egress: [{}] };
  const to = sides(known, settings.egressTo).map(({ peers, ...rest }) => ({ ...rest, to: peers }));
  return { ingress: from, egress: [...to, ...dnsRules(settings.dns)] };
}

/** Of every other agent: the operator can reach it, so that it can recover, and it can resolve names; nothing else. */
export function restrictiveRules({ operatorNamespace, settings }: Surroundings): Rules {
  const operator = operatorPods(operatorNamespace);
  return { ingress: [{ from: [operator] }], egress: [{ to: [operator] }, ...dnsRules(settings.dns)] };
}

interface Side {
  readonly peers: readonly NetworkPolicyPeer[];
  readonly ports?: NetworkPolicyRule['ports'];
}

/** Peers on all ports share a rule; each with ports of its own has one of its own. */
function sides(known: readonly NetworkPolicyPeer[], configured: readonly PeerOnPorts[]): readonly Side[] {
  const anyPort = configured.filter(({ ports }) => ports === undefined);
  const onPorts = configured.filter(({ ports }) => ports !== undefined);
  return [
    { peers: [...known, ...anyPort.map(peerOf)] },
    ...onPorts.map((peer) => ({ ports: portsOf(peer), peers: [peerOf(peer)] })),
  ];
}

/** Written too, so that what somebody else writes there is put back. */
const forNothing = 'none';

/** Of a policy that is there: the part of a spec for which it is open. */
export function openedFor({ metadata }: NetworkPolicy): string | undefined {
  const value = metadata.annotations?.[annotations.verdictFor];
  return value === forNothing ? undefined : value;
}

export interface PolicyFacts {
  readonly card: AgentCard;
  readonly name: string;
  /** The workload's own, as it is. */
  readonly podSelector: LabelSelector;
  readonly rules: Rules;
  /** See `annotations.verdictFor`; absent: it is restrictive. */
  readonly verdictFor?: string | undefined;
  /** Of the policy that is there: then this is never written on a namesake. */
  readonly uid?: string | undefined;
}

/**
 * The whole object as it is applied. Owned by the card, so that the garbage collector removes it with the card and no finalizer is needed.
 * Not `blockOwnerDeletion`: some API servers then ask for rights on the card's finalizers.
 */
export function networkPolicy({ card, name, podSelector, rules, verdictFor, uid }: PolicyFacts): Fragment {
  const { namespace, name: cardName = '', uid: cardUid = '' } = card.metadata;
  const body: NetworkPolicy = {
    apiVersion: kinds.networkPolicy.apiVersion,
    kind: kinds.networkPolicy.kind,
    metadata: {
      namespace: namespace ?? '',
      name,
      ...(uid === undefined ? {} : { uid }),
      labels: {
        [labels.managedBy]: managedBy,
        [labels.agentCard]: labelValue(cardName),
        [labels.policyType]: policyType,
      },
      annotations: { [annotations.verdictFor]: verdictFor ?? forNothing },
      ownerReferences: [{ apiVersion, kind: kinds.agentCard.kind, name: cardName, uid: cardUid, controller: true }],
    },
    spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ...rules },
  };
  return { kind: kinds.networkPolicy, body: body as Fragment['body'] };
}
