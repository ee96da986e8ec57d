/** DNS stays reachable for an agent that may reach nothing else, in clusters that place it differently (NP-01). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicyPeer, NetworkPolicyRule } from '../../../runtime/api/kubernetes.ts';
import { dnsProfiles } from '../../../runtime/config/network-policy.ts';
import { dnsRules } from '../../../runtime/network-policy/dns.ts';
import { selects } from '../../../runtime/workload/selector.ts';

const bothPorts = ['UDP/53', 'TCP/53', 'UDP/5353', 'TCP/5353'];

function portsTo(rules: readonly NetworkPolicyRule[], isMeant: (peer: NetworkPolicyPeer) => boolean) {
  return rules
    .filter(({ to = [] }) => to.some(isMeant))
    .flatMap(({ ports = [] }) => ports.map(({ protocol, port }) => `${protocol}/${port}`));
}

const pods = (namespace: string, labels: Readonly<Record<string, string>>) => (peer: NetworkPolicyPeer) =>
  peer.namespaceSelector !== undefined &&
  selects(peer.namespaceSelector, { 'kubernetes.io/metadata.name': namespace }) &&
  selects(peer.podSelector ?? {}, labels);
const address = (cidr: string) => (peer: NetworkPolicyPeer) => peer.ipBlock?.cidr === cidr;

const kubeDns = { 'k8s-app': 'kube-dns' };
const openshiftDns = { 'dns.operator.openshift.io/daemonset-dns': 'default' };

/** Who must be reached on which ports, by profile. */
const reached: readonly (readonly [
  profile: (typeof dnsProfiles)[number],
  what: string,
  isMeant: (peer: NetworkPolicyPeer) => boolean,
  ports: readonly string[],
])[] = [
  ['default', 'the DNS pods of vanilla and kind', pods('kube-system', kubeDns), bothPorts],
  ['default', 'DNS pods that live elsewhere', pods('cluster-dns', kubeDns), bothPorts],
  ['default', 'the node-local cache', address('169.254.20.10/32'), bothPorts],
  ['default', 'no other pod of kube-system', pods('kube-system', { 'k8s-app': 'dashboard' }), []],
  ['default', 'not the metadata server', address('169.254.169.254/32'), []],
  ['openshift', 'OpenShift’s DNS pods', pods('openshift-dns', openshiftDns), bothPorts],
  ['openshift', 'nobody of another namespace with their label', pods('team2', openshiftDns), []],
  ['openshift', 'the node-local cache', address('169.254.20.10/32'), bothPorts],
  ['node-local', 'the node-local cache', address('169.254.20.10/32'), bothPorts],
  [
    'node-local',
    'its pods, where they are not on the host’s network',
    pods('kube-system', { 'k8s-app': 'node-local-dns' }),
    bothPorts,
  ],
  ['node-local', 'the DNS pods behind it', pods('kube-system', kubeDns), bothPorts],
  ['cloud-dns', 'the metadata server, on the one port of DNS', address('169.254.169.254/32'), ['UDP/53', 'TCP/53']],
  ['cloud-dns', 'the node-local cache before it', address('169.254.20.10/32'), bothPorts],
];

for (const [profile, what, isMeant, ports] of reached) {
  test(`NP-01: profile ${profile} reaches ${what}`, () =>
    assert.deepEqual(portsTo(dnsRules({ profile, peers: [] }), isMeant), ports));
}

test('NP-01: no profile has a rule without peers, which some networks ignore and others take for everywhere', () => {
  for (const profile of dnsProfiles) {
    for (const { to = [], ports = [] } of dnsRules({ profile, peers: [] })) {
      assert.ok(to.length > 0 && ports.length > 0, profile);
    }
  }
});

test('NP-01: peers of one’s own join every profile: a Service’s address, an IPv6 cache, pods with other labels', () => {
  const peers = [
    { ipBlock: { cidr: '10.96.0.10/32' } },
    { ipBlock: { cidr: 'fd00::10/128' } },
    { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'coredns' } } },
  ];
  for (const profile of dnsProfiles) {
    const rules = dnsRules({ profile, peers });
    assert.deepEqual(portsTo(rules, address('10.96.0.10/32')), bothPorts);
    assert.deepEqual(portsTo(rules, address('fd00::10/128')), bothPorts);
    assert.deepEqual(portsTo(rules, pods('dns', { 'k8s-app': 'coredns' })), bothPorts);
  }
});
