/** The decision: every reason to allow or deny, a row each; and which containers come of gates, labels, modes and the cluster. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import type { Reason } from '../../../runtime/authbridge/snapshot.ts';
import { allContainers, injectedPod, judged, layers, p0, r0, type SnapshotParts } from './fixtures.ts';

const problem = {
  source: { layer: 'namespace', where: 'ConfigMap team1/defaults, key config.yaml' },
  kind: 'invalid',
  message: 'ConfigMap team1/defaults, key config.yaml: line 3: trce: unknown key',
} as const;
const container = (parts: Partial<Container>) => ({ image: 'example.test/x:1', name: 'x', ...parts });
const labelled = (labels: Record<string, string>) => p0({ labels });
const noContainers = { envoyProxy: false, spiffeHelper: false, clientRegistration: false };
const ownEnvoy = container({ name: 'envoy-proxy' });
const marker = (value: string) => ({ 'rossoctl.io/injected': value });

const rows: readonly (readonly [string, SnapshotParts, 'allow' | 'deny' | 'mutate', Reason, RegExp?])[] = [
  ['P0 with R0', {}, 'mutate', 'Injected', /proxy-init, envoy-proxy/],
  ['an update', { operation: 'UPDATE' }, 'allow', 'NotACreate'],
  ['a deletion', { operation: 'DELETE', pod: undefined }, 'allow', 'NotACreate'],
  ['no object', { pod: undefined }, 'allow', 'NotAPod'],
  ['no type label', { pod: { ...p0(), metadata: {} } }, 'allow', 'NotLabelled'],
  ['another type', { pod: labelled({ 'rossoctl.io/type': 'Agent' }) }, 'allow', 'NotLabelled', /"Agent"/],
  ['a tool, gate off', { pod: labelled({ 'rossoctl.io/type': 'tool' }) }, 'allow', 'ToolsNotInjected'],
  [
    'a tool, gate on',
    { pod: labelled({ 'rossoctl.io/type': 'tool' }), gates: { injectTools: true } },
    'mutate',
    'Injected',
  ],
  ['opted out', { pod: labelled({ 'rossoctl.io/inject': 'disabled' }) }, 'allow', 'OptedOut'],
  ['an opt-out of another value', { pod: labelled({ 'rossoctl.io/inject': 'enabled' }) }, 'mutate', 'Injected'],
  ['kill switch', { gates: { globalEnabled: false, injectTools: true } }, 'allow', 'InjectionOff'],
  [
    'kill switch although a layer is broken',
    { layers: { ...layers({ globalEnabled: false }), problems: [problem] } },
    'allow',
    'InjectionOff',
  ],
  ['AD-01 a system namespace', { namespace: 'kube-system' }, 'allow', 'SystemNamespace'],
  ['AD-01 the operator namespace', { namespace: 'agents', operatorNamespace: 'agents' }, 'allow', 'SystemNamespace'],
  ['no AgentRuntime', { runtime: undefined }, 'allow', 'NoAgentRuntime', /create one/],
  ['all components off by gate', { gates: noContainers }, 'allow', 'NothingToInject', /feature gate envoyProxy is off/],
  [
    'all components off by label',
    { pod: labelled({ 'rossoctl.io/envoy-proxy-inject': 'false', 'rossoctl.io/spiffe-helper-inject': 'false' }) },
    'allow',
    'NothingToInject',
  ],
  [
    'a broken layer',
    { layers: { ...layers(), problems: [problem] } },
    'deny',
    'ConfigInvalid',
    /team1\/defaults, key config.yaml: line 3: trce/,
  ],
  [
    'a broken layer, no AgentRuntime',
    { runtime: undefined, layers: { ...layers(), problems: [problem] } },
    'allow',
    'NoAgentRuntime',
  ],
  [
    'a tool while gates cannot be read',
    {
      pod: labelled({ 'rossoctl.io/type': 'tool' }),
      layers: {
        ...layers(),
        problems: [
          { ...problem, source: { layer: 'platform', where: 'ConfigMap rossoctl-system/rossoctl-feature-gates' } },
        ],
      },
    },
    'deny',
    'ConfigInvalid',
  ],
  [
    'an AgentRuntime that bypassed its schema',
    { runtime: r0({ mtlsMode: 'sometimes' as never }) },
    'deny',
    'ConfigInvalid',
    /mtlsMode/,
  ],
  [
    'a container of the user named envoy-proxy',
    { pod: p0({ spec: { containers: [ownEnvoy] } }) },
    'deny',
    'ContainerNameTaken',
    /envoy-proxy.*rename/,
  ],
  [
    'an init container of the user named proxy-init',
    { pod: p0({ spec: { initContainers: [container({ name: 'proxy-init' })] } }) },
    'deny',
    'ContainerNameTaken',
    /proxy-init/,
  ],
  [
    'a taken name where injection is off',
    { pod: p0({ spec: { containers: [ownEnvoy] } }), gates: { globalEnabled: false } },
    'allow',
    'InjectionOff',
  ],
  ['a marker without containers', { pod: p0({ annotations: marker('proxy-init,envoy-proxy') }) }, 'mutate', 'Injected'],
  [
    'a marker with a container that only has the name',
    { pod: p0({ annotations: marker('envoy-proxy'), spec: { containers: [ownEnvoy] } }) },
    'deny',
    'MarkerForged',
    /no envoy-proxy container of ours/,
  ],
  [
    'a marker that names something else',
    { pod: p0({ annotations: marker('sidecar'), spec: { containers: [ownEnvoy] } }) },
    'deny',
    'MarkerForged',
    /"sidecar"/,
  ],
  ['host network', { pod: p0({ spec: { hostNetwork: true } }) }, 'deny', 'HostNetworkConflict', /proxy-sidecar/],
  [
    'host network in mode proxy-sidecar',
    { pod: p0({ spec: { hostNetwork: true } }), runtime: r0({ authBridgeMode: 'proxy-sidecar' }) },
    'mutate',
    'Injected',
  ],
  ['Windows', { pod: p0({ spec: { os: { name: 'windows' } } as never }) }, 'deny', 'UnsupportedOS'],
  [
    'privileged namespace',
    { namespaceLabels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    'mutate',
    'Injected',
  ],
  [
    'restricted is only warned about',
    { namespaceLabels: { 'pod-security.kubernetes.io/warn': 'restricted' } },
    'mutate',
    'Injected',
  ],
  [
    'hostPath for SPIFFE under baseline',
    {
      namespaceLabels: { 'pod-security.kubernetes.io/enforce': 'baseline' },
      runtime: r0({ authBridgeMode: 'proxy-sidecar' }),
      config: { spiffe: { volume: 'hostPath' } },
    },
    'deny',
    'PodSecurityConflict',
    /spiffe.volume: csi/,
  ],
  [
    'strict without CSI driver',
    { csiDriver: false, runtime: r0({ mtlsMode: 'strict' }) },
    'deny',
    'SpiffeUnavailable',
    /csi.spiffe.io/,
  ],
  [
    'strict from the platform without CSI driver',
    { csiDriver: false, config: { mtls: { mode: 'strict' } } },
    'deny',
    'SpiffeUnavailable',
  ],
  [
    'strict without CSI driver and without proxy',
    { csiDriver: false, runtime: r0({ mtlsMode: 'strict' }), gates: { envoyProxy: false } },
    'deny',
    'SpiffeUnavailable',
  ],
  [
    'strict with SPIFFE off by gate',
    { runtime: r0({ mtlsMode: 'strict' }), gates: { spiffeHelper: false } },
    'deny',
    'SpiffeUnavailable',
    /feature gate spiffeHelper/,
  ],
  [
    'strict with SPIFFE off by label',
    { runtime: r0({ mtlsMode: 'strict' }), pod: labelled({ 'rossoctl.io/spiffe-helper-inject': 'false' }) },
    'deny',
    'SpiffeUnavailable',
    /spiffe-helper-inject/,
  ],
  [
    'strict with a host path needs no driver',
    { csiDriver: false, runtime: r0({ mtlsMode: 'strict' }), config: { spiffe: { volume: 'hostPath' } } },
    'mutate',
    'Injected',
  ],
  [
    'a container under the proxy uid',
    { pod: p0({ container: { securityContext: { runAsUser: 1337 } } }) },
    'deny',
    'ProxyUidTaken',
    /container agent.*1337/,
  ],
  [
    'a pod under the proxy uid',
    { pod: p0({ spec: { securityContext: { runAsUser: 1337 } } }) },
    'deny',
    'ProxyUidTaken',
  ],
  [
    'a pod under the proxy uid, its container under another',
    {
      pod: p0({ spec: { securityContext: { runAsUser: 1337 } }, container: { securityContext: { runAsUser: 1000 } } }),
    },
    'mutate',
    'Injected',
  ],
  [
    'the proxy uid where nothing is redirected',
    {
      pod: p0({ container: { securityContext: { runAsUser: 1337 } } }),
      runtime: r0({ authBridgeMode: 'proxy-sidecar' }),
    },
    'mutate',
    'Injected',
  ],
  [
    'ports to exclude',
    { pod: p0({ annotations: { 'rossoctl.io/outbound-ports-exclude': '5432, 6379,' } }) },
    'mutate',
    'Injected',
  ],
  [
    'ports to exclude that are none',
    { pod: p0({ annotations: { 'rossoctl.io/inbound-ports-exclude': '8081,http,70000' } }) },
    'deny',
    'InvalidAnnotation',
    /"http", "70000"/,
  ],
  [
    'a volume of the user with our name',
    { pod: p0({ spec: { volumes: [{ name: 'rossoctl-spiffe-socket', emptyDir: {} }] } }) },
    'deny',
    'VolumeNameTaken',
    /rossoctl-spiffe-socket/,
  ],
  [
    'a pod without containers',
    { pod: p0({ spec: { containers: [] } }) },
    'deny',
    'InvalidPod',
    /spec.containers is empty/,
  ],
  [
    'a label that is no text',
    { pod: { ...p0(), metadata: { labels: { a: 1 as never } } } },
    'deny',
    'InvalidPod',
    /metadata.labels\["a"\].*quotes/,
  ],
];

for (const [what, parts, kind, reason, note] of rows) {
  test(`${what} → ${kind} ${reason}`, () => {
    const { verdict, steps } = judged(parts);
    assert.deepEqual([verdict.kind, verdict.reason], [kind, reason]);
    assert.match(verdict.note, note ?? /./);
    assert.ok(kind === 'mutate' || steps.every(({ passed }, at) => passed || at === steps.length - 1));
  });
}

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
