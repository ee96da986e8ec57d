/** Which containers come of gates, labels, modes and the cluster, and in which order. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { allContainers, injectedPod, judged, p0, r0, type SnapshotParts } from './fixtures.ts';

const container = (parts: Partial<Container>) => ({ image: 'example.test/x:1', name: 'x', ...parts });
const labelled = (labels: Record<string, string>) => p0({ labels });

const composed: readonly (readonly [string, SnapshotParts, readonly string[]])[] = [
  ['everything', {}, ['proxy-init', 'envoy-proxy', 'agent']],
  [
    'mode proxy-sidecar from the AgentRuntime',
    { runtime: r0({ authBridgeMode: 'proxy-sidecar' }) },
    ['envoy-proxy', 'agent'],
  ],
  [
    'mode proxy-sidecar from the platform',
    { config: { authBridge: { mode: 'proxy-sidecar' } } },
    ['envoy-proxy', 'agent'],
  ],
  [
    'the AgentRuntime over the platform',
    { config: { authBridge: { mode: 'proxy-sidecar' } }, runtime: r0({ authBridgeMode: 'envoy-sidecar' }) },
    ['proxy-init', 'envoy-proxy', 'agent'],
  ],
  ['envoy-proxy off by gate', { gates: { envoyProxy: false } }, ['spiffe-helper', 'agent']],
  [
    'envoy-proxy off by label',
    { pod: labelled({ 'rossoctl.io/envoy-proxy-inject': 'false' }) },
    ['spiffe-helper', 'agent'],
  ],
  [
    'a label cannot turn on what a gate turns off',
    { gates: { envoyProxy: false }, pod: labelled({ 'rossoctl.io/envoy-proxy-inject': 'true' }) },
    ['spiffe-helper', 'agent'],
  ],
  [
    'client registration as a sidecar',
    { config: { clientRegistration: { mode: 'sidecar' } } },
    ['proxy-init', 'envoy-proxy', 'client-registration', 'agent'],
  ],
  [
    'client registration off by label',
    {
      config: { clientRegistration: { mode: 'sidecar' } },
      pod: labelled({ 'rossoctl.io/client-registration-inject': 'false' }),
    },
    ['proxy-init', 'envoy-proxy', 'agent'],
  ],
  [
    'the user has init containers',
    { pod: p0({ spec: { initContainers: [container({ name: 'setup' })] } }) },
    ['proxy-init', 'envoy-proxy', 'setup', 'agent'],
  ],
  [
    'no native sidecars',
    { nativeSidecars: false, config: { clientRegistration: { mode: 'sidecar' } } },
    ['proxy-init', 'agent', 'envoy-proxy', 'client-registration'],
  ],
];

for (const [what, parts, names] of composed) {
  test(`containers in their order: ${what}`, () => {
    const containers = allContainers(injectedPod(parts));
    assert.deepEqual(
      containers.map(({ name }) => name),
      names,
    );
    const native = containers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name);
    const sidecars = names.filter((name) => !['proxy-init', 'setup', 'agent'].includes(name));
    assert.deepEqual(native, parts.nativeSidecars === false ? [] : sidecars);
  });
}

test('without a CSI driver a pod is admitted without identity, with a warning and no volume that would make it wait', () => {
  const { verdict } = judged({ csiDriver: false });
  assert.equal(verdict.kind, 'mutate');
  assert.match(verdict.warnings?.join() ?? '', /without a SPIFFE identity/);
  const pod = injectedPod({ csiDriver: false });
  assert.ok(pod.spec.volumes?.every(({ csi }) => csi === undefined));
});

test('a job on a server without native sidecars comes with a warning', () => {
  const { verdict } = judged({ nativeSidecars: false, owner: { kind: 'Job', name: 'x' } });
  assert.match(verdict.warnings?.join() ?? '', /never completes/);
});

test('an emptyDir the user declares for the certificates is shared, not refused', () => {
  const volumes = [{ name: 'rossoctl-svid', emptyDir: {} }];
  const pod = injectedPod({ gates: { envoyProxy: false }, pod: p0({ spec: { volumes } }) });
  assert.equal(pod.spec.volumes?.filter(({ name }) => name === 'rossoctl-svid').length, 1);
});
