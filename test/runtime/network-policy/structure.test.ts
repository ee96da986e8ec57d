/** What must hold of every policy, whatever the configuration (NP-03). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { NetworkPolicy, NetworkPolicyPeer } from '../../../runtime/api/kubernetes.ts';
import { labels, operatorPodLabels } from '../../../runtime/api/names.ts';
import { peerViolations } from '../../../runtime/config/peers.ts';
import { peerOf } from '../../../runtime/network-policy/peers.ts';
import { permissiveRules, restrictiveRules } from '../../../runtime/network-policy/policies.ts';
import { selects } from '../../../runtime/workload/selector.ts';
import { arbitrarySettings } from './arbitrary-settings.ts';
import { selector, surroundings } from './fixtures.ts';
import { configuredPeers, made, variants } from './variants.ts';

type Labels = Readonly<Record<string, string>>;

/** Whether a peer finds a pod of another namespace than the policy's. */
function finds({ namespaceSelector, podSelector = {} }: NetworkPolicyPeer, namespace: string, pod: Labels): boolean {
  if (namespaceSelector === undefined) return false;
  return selects(namespaceSelector, { 'kubernetes.io/metadata.name': namespace }) && selects(podSelector, pod);
}

function peersOf({ spec }: NetworkPolicy, side: 'ingress' | 'egress'): readonly NetworkPolicyPeer[] {
  return (spec?.[side] ?? []).flatMap(({ from = [], to = [] }) => [...from, ...to]);
}

const bothSides = (policy: NetworkPolicy) => [...peersOf(policy, 'ingress'), ...peersOf(policy, 'egress')];

/** A peer that nobody configured: a few addresses, or both selectors at once, of which neither opens a namespace. */
function assertNarrow(peer: NetworkPolicyPeer): void {
  if (peer.ipBlock !== undefined) return assert.match(peer.ipBlock.cidr, /^169\.254\.\d+\.\d+\/32$/);
  assert.ok(peer.namespaceSelector !== undefined && peer.podSelector !== undefined, JSON.stringify(peer));
  assert.ok(Object.keys(peer.podSelector.matchLabels ?? {}).length > 0, JSON.stringify(peer));
}

function assertSound(policy: NetworkPolicy, configured: readonly NetworkPolicyPeer[]): void {
  const { ingress = [], egress = [], ...spec } = policy.spec ?? {};
  assert.deepEqual(spec, { podSelector: selector, policyTypes: ['Ingress', 'Egress'] });
  const known = new Set(configured.map((peer) => JSON.stringify(peer)));
  for (const peer of bothSides(policy)) if (!known.has(JSON.stringify(peer))) assertNarrow(peer);
  for (const { from = [] } of ingress) assert.ok(from.length > 0, 'lets everybody in');
  assert.ok(ingress.length > 0 && egress.length > 0, 'the API server would drop a side');
  assert.ok(peersOf(policy, 'ingress').some((peer) => finds(peer, 'rossoctl-system', operatorPodLabels)));
  assert.deepEqual(droppedParts(policy.spec), []);
  const ports = [...ingress, ...egress].flatMap((rule) => rule.ports ?? []);
  assert.ok(
    ports.every(({ protocol }) => protocol !== undefined),
    'the API server would fill in a protocol',
  );
}

/** Paths of what the API server would drop: lists and label maps that are empty. */
function droppedParts(value: unknown, at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const isDropped = Array.isArray(value) || at.endsWith('.matchLabels');
  if (isDropped && Object.keys(value).length === 0) return [at];
  return Object.entries(value).flatMap(([key, each]) => droppedParts(each, `${at}.${key}`));
}

test('NP-03: operator and verified agents are single peers that hold both selectors, in every variant', () => {
  for (const policy of Object.values(variants)) assertSound(policy, configuredPeers.map(peerOf));
});

test('NP-03: a pod of the operator’s namespace without the operator’s labels is nobody to any policy', () => {
  const bystanders: readonly Labels[] = [
    {},
    { app: 'keycloak' },
    { 'app.kubernetes.io/name': 'rossoctl-operator' },
    { 'app.kubernetes.io/component': 'operator' },
  ];
  for (const [name, policy] of Object.entries(variants)) {
    const peers = bothSides(policy);
    for (const pod of bystanders) assert.ok(!peers.some((peer) => finds(peer, 'rossoctl-system', pod)), name);
    assert.ok(!peers.some((peer) => finds(peer, 'team2', operatorPodLabels)), name);
  }
});

test('NP-03: verified pods of any namespace are let in while permissive; never while restrictive, and others never', () => {
  const isLetIn = (policy: NetworkPolicy, pod: Labels) =>
    peersOf(policy, 'ingress').some((peer) => finds(peer, 'team9', pod));
  assert.ok(isLetIn(variants.permissive, { [labels.signatureVerified]: 'true' }));
  assert.ok(!isLetIn(variants.permissive, { [labels.signatureVerified]: 'false' }));
  assert.ok(!isLetIn(variants.permissive, {}));
  assert.ok(!isLetIn(variants.restrictive, { [labels.signatureVerified]: 'true' }));
});

test('NP-03: property: it holds for every configuration that is accepted, and what it grants verified agents the others do not get', () => {
  fc.assert(
    fc.property(arbitrarySettings, (settings) => {
      fc.pre(peerViolations({ networkPolicy: settings }).length === 0);
      const around = surroundings(settings);
      const configured = [...settings.ingressFrom, ...settings.egressTo, ...settings.dns.peers].map(peerOf);
      assertSound(made(permissiveRules(around)), configured);
      assertSound(made(restrictiveRules(around)), settings.dns.peers.map(peerOf));
      assert.deepEqual(restrictiveRules(around), restrictiveRules(surroundings({ dns: settings.dns })));
    }),
  );
});
