/** Whom an agent may talk to, as peers of a NetworkPolicy. Two selectors of one peer hold together; two peers would each hold alone (report NP-03). */

import type { LabelSelector, NetworkPolicyPeer, NetworkPolicyPort } from '../api/kubernetes.ts';
import { labels, operatorPodLabels } from '../api/names.ts';
import type { Peer, PeerOnPorts } from '../config/network-policy.ts';

/** Pods whose label says that their agent's card is verified, wherever they run. The label is the operator's alone to set. */
export const verifiedAgents: NetworkPolicyPeer = {
  namespaceSelector: {},
  podSelector: { matchLabels: { [labels.signatureVerified]: 'true' } },
};

/** The operator's pods, and no other pod of their namespace: they fetch the cards from which verdicts come (report NP-02). */
export function operatorPods(namespace: string): NetworkPolicyPeer {
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    podSelector: { matchLabels: operatorPodLabels },
  };
}

/** A configured peer as the API server would give it back: without lists and maps that are empty, so that no difference is seen where is none. */
export function peerOf({ namespaceSelector, podSelector, ipBlock }: Peer): NetworkPolicyPeer {
  return {
    ...(namespaceSelector === undefined ? {} : { namespaceSelector: selectorOf(namespaceSelector) }),
    ...(podSelector === undefined ? {} : { podSelector: selectorOf(podSelector) }),
    ...(ipBlock === undefined ? {} : { ipBlock: withoutEmpty(ipBlock) }),
  };
}

/** The ports of a configured peer; none: all. The API server's default protocol is stated, for the same reason. */
export function portsOf({ ports = [] }: PeerOnPorts): readonly NetworkPolicyPort[] {
  return ports.map(({ protocol = 'TCP', ...rest }) => ({ protocol, ...rest }));
}

function selectorOf({ matchLabels, matchExpressions }: NonNullable<Peer['podSelector']>): LabelSelector {
  return withoutEmpty({ matchLabels, matchExpressions: matchExpressions?.map(withoutEmpty) });
}

function withoutEmpty<T extends object>(value: T): T {
  const kept = Object.entries(value).filter(([, each]) => each !== undefined && !isEmpty(each));
  return Object.fromEntries(kept) as T;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
