/** Where the cluster's DNS answers, as egress rules: by profile, because clusters place and name it differently (report NP-01). */

import type { NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicyRule } from '../api/kubernetes.ts';
import type { DnsProfile, NetworkPolicySection } from '../config/network-policy.ts';
import { peerOf } from './peers.ts';

/** The Service's port, and the one on which OpenShift's pods listen behind it: some networks look before translation, some after. */
const ports: readonly NetworkPolicyPort[] = [53, 5353].flatMap(onBothProtocols);
const servicePort: readonly NetworkPolicyPort[] = onBothProtocols(53);

/** The label that DNS pods have had since kube-dns; their namespace is each cluster's own choice. */
const kubeDns = podsLabelled({ 'k8s-app': 'kube-dns' });
/** The address of the node-local cache, whose pods are on the host's network, where no selector finds them. */
const nodeLocal: NetworkPolicyPeer = { ipBlock: { cidr: '169.254.20.10/32' } };
/** Cloud DNS answers at the address of the metadata server, of which no other port may be opened. */
const metadataServer: NetworkPolicyPeer = { ipBlock: { cidr: '169.254.169.254/32' } };

interface Places {
  readonly peers: readonly NetworkPolicyPeer[];
  /** Opened on port 53 alone. */
  readonly onServicePort?: readonly NetworkPolicyPeer[];
}

const profiles: Readonly<Record<DnsProfile, Places>> = {
  default: { peers: [kubeDns, nodeLocal] },
  openshift: {
    peers: [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } },
        podSelector: { matchLabels: { 'dns.operator.openshift.io/daemonset-dns': 'default' } },
      },
      nodeLocal,
    ],
  },
  'node-local': { peers: [kubeDns, podsLabelled({ 'k8s-app': 'node-local-dns' }), nodeLocal] },
  'cloud-dns': { peers: [kubeDns, nodeLocal], onServicePort: [metadataServer] },
};

/** Every rule names its peers: a rule of ports alone means everywhere, or, to some networks, nothing. */
export function dnsRules({ profile, peers: more }: NetworkPolicySection['dns']): readonly NetworkPolicyRule[] {
  const { peers, onServicePort } = profiles[profile];
  return [
    { ports, to: [...peers, ...more.map(peerOf)] },
    ...(onServicePort === undefined ? [] : [{ ports: servicePort, to: onServicePort }]),
  ];
}

function onBothProtocols(port: number): readonly NetworkPolicyPort[] {
  return [
    { protocol: 'UDP', port },
    { protocol: 'TCP', port },
  ];
}

function podsLabelled(matchLabels: Readonly<Record<string, string>>): NetworkPolicyPeer {
  return { namespaceSelector: {}, podSelector: { matchLabels } };
}
