/** Pods that Kubernetes' own controllers make, before a real API server: what was added in the same request, and what a template only pretends. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { annotations } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { containerOf, injectedPod, p0, r0, typeLabel } from '../runtime/authbridge/fixtures.ts';
import { eventually } from '../support/engine-bed.ts';
import { workloadKinds } from '../support/workload-objects.ts';
import { startInjectionBed } from './injection-bed.ts';

type Kind = 'Deployment' | 'StatefulSet' | 'Job';

describe('pods of controllers on a real API server', { timeout: 600_000 }, () => {
  let bed: Awaited<ReturnType<typeof startInjectionBed>>;
  before(async () => {
    bed = await startInjectionBed('origin', {
      withControllerManager: true,
      // As a registry's mirror and a wrapper of programs do.
      meddle: ({ image = '' }) => ({ image: `mirror.test/${image}`, command: ['/wrap'] }),
    });
  });
  after(async () => {
    await bed?.stop();
  });

  /** A workload with a template already labelled, as the operator leaves it, and its AgentRuntime. */
  async function create(kind: Kind, name: string, { metadata, spec: podSpec }: Pod = p0()): Promise<void> {
    const { apiVersion } = workloadKinds[kind];
    const { metadata: runtime, spec: runtimeSpec } = r0({ targetRef: { apiVersion, kind, name } }, name);
    const { uid: _, creationTimestamp: __, ...named } = runtime;
    const agentRuntime = { apiVersion: 'agent.rossoctl.dev/v1alpha1', kind: 'AgentRuntime', metadata: named };
    await bed.client.create(kinds.agentRuntime, { ...agentRuntime, spec: runtimeSpec });
    const labels = { app: name, ...typeLabel };
    const template = {
      metadata: { labels, annotations: metadata.annotations ?? {} },
      spec: { ...podSpec, ...(kind === 'Job' ? { restartPolicy: 'Never' } : {}) },
    };
    const selected = kind === 'Job' ? {} : { selector: { matchLabels: { app: name } }, replicas: 1 };
    const served = kind === 'StatefulSet' ? { serviceName: name } : {};
    const workload = {
      apiVersion,
      kind,
      metadata: { namespace: 'team1', name },
      spec: { ...selected, ...served, template },
    };
    await bed.client.create(workloadKinds[kind], workload as KubeObject);
  }

  const podsOf = async (name: string) =>
    (await bed.client.list<Pod>(kinds.pod, { namespace: 'team1', labels: `app=${name}` })).items;
  const verdictsOf = (name: string) =>
    bed.asked
      .filter(({ request }) => request.object?.metadata.labels?.['app'] === name)
      .map(({ verdict }) => verdict.reason);

  for (const kind of ['Deployment', 'StatefulSet', 'Job'] as const) {
    test(`PM-03 a ${kind}: what another webhook made of our containers in the same request stays, mirror and wrapper included`, async () => {
      const name = `fresh-${kind.toLowerCase()}`;
      await create(kind, name);
      await eventually(async () => assert.equal((await podsOf(name)).length, 1));
      const [pod] = await podsOf(name);
      assert.ok(pod !== undefined);
      const { image, command } = containerOf(pod, 'envoy-proxy');
      assert.match(image ?? '', /^mirror\.test\/ghcr\.io\/rossoctl\/rossoctl-sidecar:/);
      assert.deepEqual(command, ['/wrap']);
      assert.deepEqual(verdictsOf(name).slice(0, 2), ['Injected', 'AlreadyInjected']);
    });
  }

  test('a template with our marker and a container of our name is refused, however it looks', async () => {
    const envoyProxy = {
      name: 'envoy-proxy',
      image: 'evil.test/x:1',
      restartPolicy: 'Always' as const,
      volumeMounts: [{ name: 'rossoctl-work', mountPath: '/w' }],
    };
    const forged = p0({
      annotations: { [annotations.injected]: 'envoy-proxy' },
      spec: { initContainers: [envoyProxy], volumes: [{ name: 'rossoctl-work', emptyDir: {} }] },
    });
    const { spec, ...printed } = injectedPod();
    const initContainers = spec.initContainers?.map((each) => ({ ...each, image: 'evil.test/x:1' }));
    const whole = { ...printed, spec: { ...spec, initContainers } } as Pod;
    for (const [name, pod] of [
      ['forged', forged],
      ['forged-whole', whole],
    ] as const) {
      await create('Deployment', name, pod);
      await eventually(async () => {
        const { status } = await bed.client.get(kinds.deployment, { namespace: 'team1', name });
        const failure = status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
        assert.match(failure?.message ?? '', /denied the request: .*rossoctl\.io\/injected is not true/);
      });
      assert.deepEqual([...new Set(verdictsOf(name))], ['MarkerForged']);
      assert.deepEqual(await podsOf(name), []);
    }
  });

  test('a template that holds our own output is recognised, also with the tag of another release', async () => {
    const pod = injectedPod();
    const initContainers = pod.spec.initContainers?.map((each) => ({
      ...each,
      image: each.image?.replace(/:[^:]*$/, ':0.0.9') ?? '',
    }));
    await create('Deployment', 'weather-agent', {
      ...pod,
      spec: { ...pod.spec, ...(initContainers && { initContainers }) },
    });
    await eventually(async () => assert.ok(verdictsOf('weather-agent').length > 0));
    assert.equal(verdictsOf('weather-agent')[0], 'AlreadyInjected');
  });
});
