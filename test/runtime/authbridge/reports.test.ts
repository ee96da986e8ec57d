/** The field reports on injection (PM-*, AD-*), each as a test of its own name. */

import assert from 'node:assert/strict';
import test from 'node:test';
import jsonpatch from 'fast-json-patch';
import type { Container, Pod } from '../../../runtime/api/kubernetes.ts';
import { jsonPatch } from '../../../runtime/engine/json-patch.ts';
import { allContainers, containerOf, envOf, injectedPod, judged, p0, r0, type SnapshotParts } from './fixtures.ts';
import { portClashes, restrictedFaults, structureFaults, volumeFaults } from './pod-check.ts';

const gateCombinations = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  envoyProxy: (bits & 1) > 0,
  spiffeHelper: (bits & 2) > 0,
  clientRegistration: (bits & 4) > 0,
}));
const ourNames = ['proxy-init', 'envoy-proxy', 'spiffe-helper', 'client-registration'];

function patch(parts: SnapshotParts) {
  const pod = parts.pod ?? p0();
  return jsonPatch(pod, injectedPod({ ...parts, pod }));
}

test('PM-01 the opt-out wins for agents and for tools', () => {
  const optedOut = { 'rossoctl.io/inject': 'disabled' };
  assert.deepEqual(patch({ pod: p0({ labels: optedOut }) }), []);
  const tool = p0({ labels: { ...optedOut, 'rossoctl.io/type': 'tool' } });
  assert.deepEqual(patch({ pod: tool, gates: { injectTools: true } }), []);
  assert.equal(judged({ pod: tool, gates: { injectTools: true } }).verdict.reason, 'OptedOut');
});

test('PM-01 an opted-out pod is admitted although configuration is broken', () => {
  const problem = { source: { layer: 'platform', where: 'x' }, kind: 'invalid', message: 'broken' } as const;
  const layers = { config: [], gates: [], problems: [problem], warnings: [] };
  const { verdict } = judged({ layers, pod: p0({ labels: { 'rossoctl.io/inject': 'disabled' } }) });
  assert.equal(verdict.kind, 'allow');
});

test('PM-02 a pod without name and namespace is judged by its own labels', () => {
  assert.equal(judged().verdict.kind, 'mutate');
  const { generateName: _, ...metadata } = p0().metadata;
  assert.equal(judged({ pod: { ...p0(), metadata } }).verdict.kind, 'mutate');
  const unlabelled = { ...p0(), metadata: { ...p0().metadata, labels: { app: 'weather-agent' } } };
  assert.equal(judged({ pod: unlabelled }).verdict.reason, 'NotLabelled');
});

for (const gates of gateCombinations) {
  const on =
    Object.entries(gates)
      .filter(([, isOn]) => isOn)
      .map(([name]) => name)
      .join('+') || 'none';
  test(`PM-03 a second run changes nothing with gates on: ${on}`, () => {
    for (const config of [{}, { clientRegistration: { mode: 'sidecar' } }] as const) {
      const p1 = injectedPod({ gates, config });
      assert.deepEqual(patch({ gates, config, pod: p1 }), []);
      assert.deepEqual(patch({ gates, config, pod: tuned(p1) }), []);
      const other = { ...gates, perWorkloadConfigResolution: true };
      assert.deepEqual(patch({ gates: other, config, pod: p1 }), []);
      assert.deepEqual(patch({ gates, config, pod: injectedPod({ gates: other, config }) }), []);
    }
  });

  test(`PM-03 in one request whatever others did to our containers stays, and what was switched meanwhile changes nothing: ${on}`, () => {
    for (const config of [{}, { clientRegistration: { mode: 'sidecar' } }] as const) {
      const p1 = injectedPod({ gates, config });
      if (p1.metadata.annotations?.['rossoctl.io/injected'] === undefined) continue;
      for (const others of gateCombinations) {
        assert.deepEqual(patch({ gates: others, pod: rewritten(p1), isAddedAtAdmission: true }), []);
      }
    }
  });
}

const ourselves = (pod: Pod, change: (container: Container) => Container): Pod => {
  const of = (containers: readonly Container[]) =>
    containers.map((container) => (ourNames.includes(container.name) ? change(container) : container));
  const { initContainers = [], containers } = pod.spec;
  return { ...pod, spec: { ...pod.spec, initContainers: of(initContainers), containers: of(containers) } };
};

/** As another webhook may leave our containers in a request of which nothing is known: their size, a tag, telemetry, a cloud's identity. */
function tuned(pod: Pod): Pod {
  return ourselves(pod, (container) => ({
    ...container,
    resources: { limits: { cpu: '7' } },
    image: `${container.image?.replace(/:[^:]*$/, '')}:0.0.9`,
    imagePullPolicy: 'Always',
    env: [...(container.env ?? []), { name: 'OTEL_SERVICE_NAME', value: 'x' }, { name: 'AWS_REGION', value: 'y' }],
    volumeMounts: [
      ...(container.volumeMounts ?? []),
      { name: 'token', mountPath: '/var/run/secrets/eks.amazonaws.com/serviceaccount', readOnly: true },
    ],
  }));
}

/** The same, from beginning to end. */
function rewritten(pod: Pod): Pod {
  return ourselves(pod, (container) => ({
    ...container,
    resources: { limits: { cpu: '7' } },
    image: 'mirror.test/x:1',
    env: [{ name: 'X', value: '1' }],
    command: ['/wrap'],
  }));
}

test('PM-03 the kill switch and a vanished AgentRuntime leave an injected pod as it is', () => {
  const p1 = injectedPod();
  assert.deepEqual(patch({ pod: p1, gates: { globalEnabled: false } }), []);
  assert.deepEqual(patch({ pod: p1, runtime: undefined }), []);
});

test('PM-04 chosen ports avoid every port of the pod, in init and native sidecars too', () => {
  const pod = p0({
    spec: {
      initContainers: [
        { name: 'side', image: 'x', restartPolicy: 'Always', ports: [{ containerPort: 9901 }] },
        { name: 'setup', image: 'x', env: [{ name: 'PORT', value: '15124' }] },
      ],
    },
    container: {
      ports: [{ containerPort: 8080 }, { containerPort: 9090 }, { containerPort: 15123 }],
      env: [{ name: 'PORT', value: '15125' }],
      readinessProbe: { httpGet: { path: '/', port: 15126 } },
    },
  });
  const injected = injectedPod({ pod });
  assert.deepEqual(portClashes(injected, ourNames), []);
  const { OUTBOUND_PORT, INBOUND_PORT, ADMIN_PORT, HEALTH_PORT } = envOf(containerOf(injected, 'envoy-proxy'));
  assert.deepEqual([OUTBOUND_PORT, INBOUND_PORT, ADMIN_PORT, HEALTH_PORT], ['15127', '15128', '9902', '15129']);
  assert.equal(envOf(containerOf(injected, 'proxy-init'))['PROXY_PORT'], OUTBOUND_PORT);
  assert.equal(containerOf(injected, 'envoy-proxy').startupProbe?.httpGet?.port, 15129);
});

test('PM-04 a clash that cannot be resolved is refused, naming port and container', () => {
  const pod = p0({ container: { ports: [{ containerPort: 65535 }] } });
  const { verdict } = judged({ pod, config: { proxy: { adminPort: 65535 } } });
  assert.equal(verdict.reason, 'PortConflict');
  assert.match(verdict.note, /65535.*container agent/);
});

const awkward: Readonly<Record<string, Parameters<typeof p0>[0]>> = {
  'no annotations': {},
  'a foreign annotation': { annotations: { 'corp.example/x': '1' } },
  'keys that need escaping': { annotations: { 'a~b/c': '1', 'd/e~1': '2' } },
  'volumes, env and init containers of its own': {
    spec: { volumes: [{ name: 'v', emptyDir: {} }], initContainers: [{ name: 'i', image: 'x' }] },
    container: { env: [{ name: 'A', value: 'b' }] },
  },
};
for (const [what, parts] of Object.entries(awkward)) {
  test(`PM-05 the patch applies by an independent RFC 6902 implementation: ${what}`, () => {
    const pod = p0(parts);
    const operations = patch({ pod });
    const applied = jsonpatch.applyPatch(structuredClone(pod), structuredClone(operations) as never, true).newDocument;
    assert.deepEqual(applied, injectedPod({ pod }));
    const replaced = operations.filter(({ op }) => op !== 'add').map(({ path }) => path);
    assert.deepEqual(replaced, []);
    for (const [key, value] of Object.entries(parts?.annotations ?? {})) {
      assert.equal(applied.metadata.annotations?.[key], value);
    }
  });
}

test('PM-08 the service account is never changed and a dry run needs nothing special', () => {
  assert.equal(injectedPod().spec.serviceAccountName, undefined);
  const pod = p0({ spec: { serviceAccountName: 'weather' } });
  assert.equal(injectedPod({ pod }).spec.serviceAccountName, 'weather');
  assert.equal(judged().identity, 'spiffe://cluster.local/ns/team1/sa/default');
  const runtime = r0({ identity: { spiffe: { trustDomain: 'prod.example' } } });
  assert.equal(judged({ pod, runtime }).identity, 'spiffe://prod.example/ns/team1/sa/weather');
});

test('PM-09 sidecars pass "restricted"; proxy-init adds two capabilities and is not privileged', () => {
  for (const gates of gateCombinations) {
    const pod = injectedPod({ gates, config: { clientRegistration: { mode: 'sidecar' } } });
    const sidecars = allContainers(pod).filter(({ name }) => ourNames.includes(name) && name !== 'proxy-init');
    assert.deepEqual(sidecars.flatMap(restrictedFaults), []);
    assert.deepEqual(volumeFaults(pod), []);
  }
  const { securityContext } = containerOf(injectedPod(), 'proxy-init');
  assert.deepEqual(securityContext, {
    runAsUser: 0,
    runAsGroup: 0,
    runAsNonRoot: false,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
    seccompProfile: { type: 'RuntimeDefault' },
  });
});

test('PM-09 pod-level settings are respected and never edited', () => {
  const securityContext = { runAsNonRoot: true, runAsUser: 10001 };
  const pod = p0({ spec: { securityContext } });
  const injected = injectedPod({ pod });
  assert.equal(injected.spec.securityContext, pod.spec.securityContext);
  assert.equal(containerOf(injected, 'proxy-init').securityContext?.runAsNonRoot, false);
});

for (const level of ['baseline', 'restricted']) {
  test(`PM-09 a namespace that enforces ${level} is told which mode avoids the conflict`, () => {
    const namespaceLabels = { 'pod-security.kubernetes.io/enforce': level };
    const { verdict } = judged({ namespaceLabels });
    assert.equal(verdict.kind, 'deny');
    assert.equal(verdict.reason, 'PodSecurityConflict');
    assert.match(verdict.note, /authBridgeMode: proxy-sidecar/);
    const avoided = injectedPod({ namespaceLabels, runtime: r0({ authBridgeMode: 'proxy-sidecar' }) });
    const ours = allContainers(avoided).filter(({ name }) => ourNames.includes(name));
    assert.deepEqual(
      ours.map(({ name }) => name),
      ['envoy-proxy'],
    );
    assert.deepEqual(ours.flatMap(restrictedFaults), []);
  });
}

test('PM-10 every mount has its volume, the SPIFFE volume is CSI and read-only, writer and readers share a uid', () => {
  for (const gates of gateCombinations) {
    const pod = injectedPod({
      gates,
      config: { clientRegistration: { mode: 'sidecar' } },
      pod: p0({ spec: { volumes: [{ name: 'spire-agent-socket', emptyDir: {} }] } }),
    });
    assert.deepEqual(structureFaults(pod), []);
    assert.deepEqual(
      pod.spec.volumes?.filter((volume) => volume.hostPath !== undefined),
      [],
    );
    const csi = pod.spec.volumes?.filter((volume) => volume.csi !== undefined) ?? [];
    for (const { csi: source } of csi) assert.deepEqual(source, { driver: 'csi.spiffe.io', readOnly: true });
    assert.equal(csi.length, gates.spiffeHelper ? 1 : 0);
    const mounted = new Set(
      allContainers(pod).flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name)),
    );
    const unused = (pod.spec.volumes ?? []).filter(({ name }) => name.startsWith('rossoctl-') && !mounted.has(name));
    assert.deepEqual(unused, []);
    const uids = new Set(
      allContainers(pod)
        .filter(({ name }) => ourNames.includes(name) && name !== 'proxy-init')
        .map(({ securityContext }) => securityContext?.runAsUser),
    );
    assert.ok(uids.size <= 1);
  }
});

for (const perWorkloadConfigResolution of [false, true]) {
  test(`PM-12 nothing a pod waits for is missing (perWorkloadConfigResolution: ${perWorkloadConfigResolution})`, () => {
    const pod = injectedPod({
      layers: {
        config: [],
        gates: [{ source: { layer: 'file', where: 'x' }, values: { perWorkloadConfigResolution } }],
        problems: [],
        warnings: [],
      },
    });
    const references = allContainers(pod).flatMap(({ env }) =>
      (env ?? []).flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef ?? []),
    );
    assert.equal(references.length > 0, !perWorkloadConfigResolution);
    assert.ok(references.every(({ optional }) => optional === true));
    assert.ok((pod.spec.volumes ?? []).every(({ secret, configMap }) => (secret ?? configMap)?.optional !== false));
    assert.ok((pod.spec.volumes ?? []).every(({ secret }) => secret === undefined || secret.optional === true));
  });
}

test('PM-16 a labelled pod without an AgentRuntime is admitted bare, with a warning', () => {
  const { verdict } = judged({ runtime: undefined });
  assert.equal(verdict.kind, 'allow');
  assert.equal(verdict.reason, 'NoAgentRuntime');
  assert.equal(verdict.warnings?.length, 1);
});
