/** Injected pods before a real API server: admitted, also under Pod Security, and recognised again as it returns them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { type Client, createClient } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { kubeconfigConnection } from '../../runtime/engine/kubeconfig.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport } from '../../runtime/engine/transport.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { injectedPod, judged, p0, r0, type SnapshotParts } from '../runtime/authbridge/fixtures.ts';
import { program } from '../runtime/cli/run-cli.ts';

const restricted = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  runAsUser: 10001,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const hardened = p0({ container: { securityContext: restricted } });
const gateCombinations = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  envoyProxy: (bits & 1) > 0,
  spiffeHelper: (bits & 2) > 0,
  clientRegistration: (bits & 4) > 0,
}));

describe('injected pods on a real API server', { timeout: 600_000 }, () => {
  let plane: ControlPlane;
  let client: Client;
  before(async () => {
    plane = await startControlPlane({ name: 'injection' });
    const connection = await kubeconfigConnection({ path: plane.kubeconfigPath }, systemClock);
    const metrics = createMetrics({ process: false });
    client = createClient(
      createTransport({ connection, clock: systemClock, metrics, limiter: unlimited, userAgent: 'rossoctl-test' }),
    );
    for (const [name, labels] of [
      ['open', {}],
      ['restricted', { 'pod-security.kubernetes.io/enforce': 'restricted' }],
    ] as const) {
      await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } };
      await client.apply({ kind: kinds.serviceAccount, body }, { fieldManager: 'test' });
    }
  });
  after(async () => {
    await client?.close();
    await plane?.stop();
  });

  /** What the API server makes of a pod; throws its refusal. */
  function admitted(pod: Pod, namespace = 'open'): Promise<Pod> {
    const options = { dryRun: true, retries: 0 };
    return client.create(kinds.pod, { ...pod, metadata: { ...pod.metadata, namespace } }, options);
  }

  test('PM-03 PM-09 every combination of gates and modes is admitted, and recognised as the API server returns it', async () => {
    for (const gates of gateCombinations) {
      for (const mode of ['operator', 'sidecar'] as const) {
        const identity = { adminCredentialsSecret: 'keycloak-admin' };
        const parts: SnapshotParts = { gates, config: { clientRegistration: { mode }, identity } };
        const returned = await admitted(injectedPod(parts));
        const { verdict } = judged({ ...parts, pod: { ...returned, apiVersion: 'v1', kind: 'Pod' } });
        assert.equal(verdict.kind, 'allow', JSON.stringify(gates));
      }
    }
  });

  test('rossoctl status says so where the platform is not installed', async () => {
    const { code, err } = await program(['status', '--kubeconfig', plane.kubeconfigPath]);
    assert.equal(code, 2);
    assert.match(err, /^rossoctl: the cluster has no AgentRuntimes: is the platform installed\?.*\n$/);
  });

  test('literal environment, excluded ports, moved ports and ordinary containers are admitted', async () => {
    const annotations = { 'rossoctl.io/outbound-ports-exclude': '5432' };
    const busy = p0({ annotations, container: { ports: [{ containerPort: 9901 }, { containerPort: 15123 }] } });
    await admitted(
      injectedPod({ pod: busy, gates: { perWorkloadConfigResolution: true }, runtime: r0({ mtlsMode: 'strict' }) }),
    );
    await admitted(injectedPod({ nativeSidecars: false }));
    await admitted(injectedPod({ config: { spiffe: { volume: 'hostPath' } } }));
  });

  test('a pod with resources of its own is admitted: they grow by what is injected', async () => {
    const pod = p0();
    const resources = { requests: { cpu: '10m', memory: '1Mi' }, limits: { cpu: '20m', memory: '100Mi' } };
    const returned = await admitted(injectedPod({ pod: { ...pod, spec: { ...pod.spec, resources } } }));
    assert.notDeepEqual(returned.spec.resources, resources);
    assert.equal(judged({ pod: { ...returned, apiVersion: 'v1', kind: 'Pod' } }).verdict.kind, 'allow');
  });

  test('PM-09 a namespace enforcing "restricted" admits everything but proxy-init', async () => {
    for (const gates of gateCombinations) {
      const runtime = r0({ authBridgeMode: 'proxy-sidecar' });
      const namespaceLabels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const config = { clientRegistration: { mode: 'sidecar' } } as const;
      await admitted(injectedPod({ pod: hardened, gates, runtime, namespaceLabels, config }), 'restricted');
    }
    await assert.rejects(
      admitted(injectedPod({ pod: hardened }), 'restricted'),
      /violates PodSecurity "restricted:latest": .*proxy-init/,
    );
    await assert.rejects(
      admitted(injectedPod({ pod: hardened }), 'restricted'),
      (error: Error) => !error.message.includes('envoy-proxy'),
    );
  });
});
