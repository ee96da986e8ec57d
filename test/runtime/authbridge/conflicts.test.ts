/** Conflicts: what makes an injected pod impossible or unsafe, a row each. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { credentialsSecretName } from '../../../runtime/api/names.ts';
import type { Reason } from '../../../runtime/authbridge/snapshot.ts';
import { judged, p0, r0, type SnapshotParts } from './fixtures.ts';

const container = (parts: Partial<Container>) => ({ image: 'example.test/x:1', name: 'x', ...parts });
const mount = (name: string) => ({ name, mountPath: `/mnt/${name}` });
const labelled = (labels: Record<string, string>) => p0({ labels });
const ownEnvoy = container({ name: 'envoy-proxy' });
const marker = (value: string) => ({ 'rossoctl.io/injected': value });

const rows: readonly (readonly [string, SnapshotParts, 'allow' | 'deny' | 'mutate', Reason, RegExp?])[] = [
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
    /no container proxy-init, which is injected now/,
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
  ...[
    ['where Envoy and the processor talk', 'rossoctl-work'],
    ['where iptables keeps its lock', 'rossoctl-run'],
    ['the SPIFFE socket', 'rossoctl-spiffe-socket'],
    ['the client secret', credentialsSecretName('team1', 'weather-agent')],
  ].map(([what, name]): (typeof rows)[number] => [
    `a container that mounts an injected volume: ${what}`,
    { pod: p0({ container: { volumeMounts: [mount('own'), mount(name ?? '')] } }) },
    'deny',
    'VolumeNameTaken',
    new RegExp(
      `container agent mounts ${name} \\(spec\\.containers\\[0\\]\\.volumeMounts\\[1\\]\\).*take the mount out`,
    ),
  ]),
  [
    'an init container that mounts an injected volume',
    { pod: p0({ spec: { initContainers: [container({ volumeMounts: [mount('rossoctl-work')] })] } }) },
    'deny',
    'VolumeNameTaken',
    /container x .*spec\.initContainers\[0\]\.volumeMounts\[0\]/,
  ],
  [
    'the certificates are for whoever mounts them',
    {
      pod: p0({
        spec: { volumes: [{ name: 'rossoctl-svid', emptyDir: {} }] },
        container: { volumeMounts: [mount('rossoctl-svid')] },
      }),
      gates: { envoyProxy: false },
    },
    'mutate',
    'Injected',
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
