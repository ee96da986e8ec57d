/** What the shared watches keep, and under which values they find things. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import {
  agentRuntimes,
  csiDrivers,
  enrolledPods,
  enrolledReplicaSets,
  namespaces,
  serviceAccounts,
  targetIndex,
} from '../../../runtime/workload/watches.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'weather-1', uid: 'rs-uid', controller: true };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'weather-1-x',
    namespace: 'team1',
    uid: 'pod-uid',
    labels: { 'rossoctl.io/type': 'agent' },
    annotations: {
      'rossoctl.io/injected': 'envoy-proxy',
      'rossoctl.io/config-hash': 'h',
      'rossoctl.io/defaults-hash': 'd',
      other: 'large',
    },
    ownerReferences: [{ ...owner, uid: 'not-me', controller: false }, owner],
    deletionTimestamp: '2026-01-01T00:00:00Z',
    managedFields: [{ manager: 'kubelet' }],
  },
  spec: {
    initContainers: [{ name: 'envoy-proxy', image: 'large' }],
    containers: [{ name: 'agent', image: 'large', env: [{ name: 'PASSWORD', value: 'secret' }] }],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};

test('of a pod is kept what the controller reads, and no environment', () => {
  assert.deepEqual(enrolledPods.keep?.(pod), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'weather-1-x',
      namespace: 'team1',
      uid: 'pod-uid',
      labels: { 'rossoctl.io/type': 'agent' },
      annotations: {
        'rossoctl.io/injected': 'envoy-proxy',
        'rossoctl.io/config-hash': 'h',
        'rossoctl.io/defaults-hash': 'd',
      },
      ownerReferences: [{ ...owner, uid: 'not-me', controller: false }, owner],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { initContainers: [{ name: 'envoy-proxy' }], containers: [{ name: 'agent' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
});

test('of a pod its TCP ports are kept: of containers and native sidecars, not of what is injected or has ended', () => {
  const ports = [
    { name: 'a2a', containerPort: 8080, hostPort: 8080, protocol: 'TCP' },
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
    { containerPort: 9090 },
  ];
  const restartPolicy = 'Always';
  const initContainers = [
    { name: 'first', ports },
    { name: 'side', restartPolicy, ports },
    { name: 'envoy-proxy', restartPolicy, ports },
  ] as const;
  const many = Array.from({ length: 40 }, (_, i) => ({ containerPort: i + 1 }));
  const containers = [
    { name: 'agent', ports },
    { name: 'spiffe-helper', ports },
    { name: 'wide', ports: many },
  ];
  const kept = [{ name: 'a2a', containerPort: 8080 }, { containerPort: 9090 }];
  assert.deepEqual(enrolledPods.keep?.({ ...pod, spec: { initContainers, containers } }).spec, {
    initContainers: [{ name: 'first' }, { name: 'side', restartPolicy, ports: kept }, { name: 'envoy-proxy' }],
    containers: [{ name: 'agent', ports: kept }, { name: 'spiffe-helper' }, { name: 'wide', ports: many.slice(0, 32) }],
  });
});

test('pods and ReplicaSets are found by their controller, ReplicaSets by themselves too', () => {
  assert.deepEqual(enrolledPods.indexes?.['owner']?.(pod), ['rs-uid']);
  assert.deepEqual(enrolledReplicaSets.indexes?.['owner']?.(pod), ['rs-uid']);
  assert.deepEqual(enrolledReplicaSets.indexes?.['uid']?.(pod), ['pod-uid']);
  assert.deepEqual(enrolledPods.indexes?.['owner']?.({ ...pod, metadata: {} }), []);
});

test('runtimes are found by their target: group, kind and name, whatever the version', () => {
  const runtime: AgentRuntime = {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { namespace: 'team1', name: 'weather' },
    spec: { type: 'agent', targetRef: { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'weather-agent' } },
  };
  assert.deepEqual(agentRuntimes.indexes?.['target']?.(runtime), ['apps/Deployment/weather-agent']);
  assert.deepEqual(agentRuntimes.indexes?.['targetName']?.(runtime), ['weather-agent']);
  assert.equal(
    targetIndex({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' }),
    'apps/Deployment/weather-agent',
  );
  const broken = { ...runtime, spec: {} } as AgentRuntime;
  assert.deepEqual(
    [agentRuntimes.indexes?.['target']?.(broken), agentRuntimes.indexes?.['targetName']?.(broken)],
    [[], []],
  );
});

test('what is watched is narrowed as far as it goes', () => {
  assert.equal(enrolledPods.labels, 'rossoctl.io/type in (agent,tool)');
  assert.equal(enrolledReplicaSets.labels, 'rossoctl.io/type in (agent,tool)');
  assert.equal(csiDrivers.name, 'csi.spiffe.io');
  for (const watch of [enrolledReplicaSets, namespaces, serviceAccounts, csiDrivers])
    assert.equal(watch.metadataOnly, true);
});
