/** The policies that differ from each other, by the name of their golden file. */

import type { NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import type { PeerOnPorts } from '../../../runtime/config/network-policy.ts';
import {
  networkPolicy,
  permissiveRules,
  restrictiveRules,
  type Rules,
} from '../../../runtime/network-policy/policies.ts';
import { card, selector, surroundings } from './fixtures.ts';

/** The whole policy of Deployment `weather` with these rules. */
export function made(rules: Rules, verdictFor?: string): NetworkPolicy {
  const facts = { card: card(), name: 'weather-signature-policy', podSelector: selector, rules, verdictFor };
  return networkPolicy(facts).body as NetworkPolicy;
}

const gateway: PeerOnPorts = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } },
  podSelector: { matchLabels: { app: 'gateway' }, matchExpressions: [] },
};
const prometheus: PeerOnPorts = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
  ports: [{ port: 9090 }],
};
const model: PeerOnPorts = { ipBlock: { cidr: '203.0.113.0/24', except: [] }, ports: [{ port: 443 }] };
const inCluster: PeerOnPorts = { podSelector: { matchExpressions: [{ key: 'db', operator: 'Exists', values: [] }] } };
const cache = { ipBlock: { cidr: 'fd00::10/128' } };

const judged = '0123456789abcdef';
const open = (settings: Parameters<typeof surroundings>[0]) => made(permissiveRules(surroundings(settings)), judged);
const closed = (settings: Parameters<typeof surroundings>[0]) => made(restrictiveRules(surroundings(settings)));

export const variants = {
  restrictive: closed({}),
  'restrictive-openshift': closed({ dns: { profile: 'openshift', peers: [] } }),
  'restrictive-node-local': closed({ dns: { profile: 'node-local', peers: [cache] } }),
  'restrictive-cloud-dns': closed({ dns: { profile: 'cloud-dns', peers: [] } }),
  permissive: open({}),
  'permissive-ingress-from': open({ ingressFrom: [gateway, prometheus] }),
  'permissive-egress-to-agents': open({ verifiedEgress: 'agents', egressTo: [inCluster, model] }),
} as const satisfies Readonly<Record<string, NetworkPolicy>>;

/** Which of their peers were configured. */
export const configuredPeers: readonly PeerOnPorts[] = [gateway, prometheus, model, inCluster, cache];
