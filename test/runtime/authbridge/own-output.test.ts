/** Pods that are our own output, also that of another release or configuration, and what others may change on them. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { injectedPod, judged, p0, r0, type SnapshotParts } from './fixtures.ts';
import { changed, withAnnotation, without, withSpec } from './injected-pods.ts';

const proxySidecar = r0({ authBridgeMode: 'proxy-sidecar' });

const ours: readonly (readonly [what: string, pod: Pod, parts?: SnapshotParts])[] = [
  ['as it came out', injectedPod()],
  ['another tag: an older release', changed('envoy-proxy', { image: 'ghcr.io/rossoctl/rossoctl-sidecar:0.0.1' })],
  ['a digest', changed('proxy-init', { image: `ghcr.io/rossoctl/rossoctl-sidecar@sha256:${'a'.repeat(64)}` })],
  [
    'this release’s own images under a platform’s',
    injectedPod(),
    { config: { images: { envoyProxy: 'corp.test/e:1' } } },
  ],
  [
    'a platform’s images with another tag',
    injectedPod({ config: { images: { envoyProxy: 'corp.test:5000/e:1' } } }),
    { config: { images: { envoyProxy: 'corp.test:5000/e:2' } } },
  ],
  ['other resources of the platform', injectedPod({ config: { resources: { envoyProxy: { limits: { cpu: '3' } } } } })],
  ['telemetry went elsewhere', injectedPod({ runtime: r0({ trace: { endpoint: 'old.test:4317' } }) })],
  ['an older configuration’s hash', withAnnotation('rossoctl.io/config-hash', 'a'.repeat(64))],
  ['an older release’s defaults', withAnnotation('rossoctl.io/defaults-hash', 'b'.repeat(16))],
  ['a component was switched off since', injectedPod(), { gates: { spiffeHelper: false } }],
  ['the proxy was switched off since', injectedPod(), { gates: { envoyProxy: false } }],
  ['the redirection was switched off since', injectedPod(), { runtime: proxySidecar }],
  [
    'clients are registered by the operator since',
    injectedPod({ config: { clientRegistration: { mode: 'sidecar' } } }),
  ],
  ['the CSI driver is gone since', injectedPod(), { csiDriver: false }],
  ['made for a server without native sidecars', injectedPod({ nativeSidecars: false })],
  ['literals instead of references', injectedPod({ gates: { perWorkloadConfigResolution: true } })],
  ['references instead of literals', injectedPod(), { gates: { perWorkloadConfigResolution: true } }],
  [
    'a mesh’s init container before ours',
    withSpec(({ initContainers = [] }) => ({
      initContainers: [{ name: 'istio-init', image: 'x' }, ...initContainers],
    })),
  ],
  [
    'foreign containers and volumes beside ours',
    withSpec(({ initContainers = [], containers, volumes = [] }) => ({
      initContainers: [...initContainers, { name: 'setup', image: 'x' }],
      containers: [...containers, { name: 'mesh', image: 'x' }],
      volumes: [...volumes, { name: 'v', emptyDir: {} }],
    })),
  ],
  [
    'an application that shares the certificates',
    injectedPod({
      gates: { envoyProxy: false },
      pod: p0({ spec: { volumes: [{ name: 'rossoctl-svid', emptyDir: {} }] } }),
    }),
    { gates: { envoyProxy: false } },
  ],
  ['ports that had to move', injectedPod({ pod: p0({ container: { ports: [{ containerPort: 15123 }] } }) })],
  [
    'ports excluded by its own annotation',
    injectedPod({ pod: p0({ annotations: { 'rossoctl.io/outbound-ports-exclude': '5432' } }) }),
  ],
];
for (const [what, pod, parts = {}] of ours) {
  test(`our own output is recognised: ${what}`, () => {
    const { verdict } = judged({ ...parts, pod });
    assert.deepEqual([verdict.kind, verdict.reason], ['allow', 'AlreadyInjected'], verdict.note);
  });
}

test('what was added earlier in the same request is ours, whatever others have made of it', () => {
  const pod = changed('envoy-proxy', { image: 'mirror.test/x:1', command: ['/wrap'], env: [] });
  const { verdict } = judged({ pod, isAddedAtAdmission: true });
  assert.deepEqual([verdict.kind, verdict.reason], ['allow', 'AlreadyInjected']);
});

test('even then marker and containers must agree', () => {
  const pod = withSpec(({ initContainers }) => ({ initContainers: without('proxy-init')(initContainers) }));
  assert.equal(judged({ pod, isAddedAtAdmission: true }).verdict.reason, 'MarkerForged');
});
