/** PM-09 The operator's pods and an agent's own pods are admitted where Pod Security enforces "restricted". */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { App, Chart } from 'cdk8s';
import { Agent, AgentPlatform, Tool } from '../../constructs/index.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { eventually, type Json, type Kube, kubeOf } from './kube.ts';
import { makeNamespace } from './policy-bed.ts';

const namespace = 'restricted';
let plane: ControlPlane;
let kube: Kube;
before(async () => {
  plane = await startControlPlane({ name: 'pod-security', withControllerManager: true });
  kube = kubeOf(plane);
  await makeNamespace(kube, namespace, { 'pod-security.kubernetes.io/enforce': 'restricted' });
});
after(async () => {
  await kube.close();
  await plane.stop();
});

const collections: Readonly<Record<string, string>> = {
  ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Service: `/api/v1/namespaces/${namespace}/services`,
  Deployment: `/apis/apps/v1/namespaces/${namespace}/deployments`,
  StatefulSet: `/apis/apps/v1/namespaces/${namespace}/statefulsets`,
  PodDisruptionBudget: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
};

/** Creates what `build` makes in the restricted namespace and waits until its controllers have made the pods. */
async function runs(build: (chart: Chart) => void, selector: string, pods: number): Promise<void> {
  const chart = new Chart(new App(), 'test', { namespace });
  build(chart);
  for (const object of chart.toJson() as readonly (Json & { kind: string; metadata: { namespace?: string } })[]) {
    const collection = object.metadata.namespace === namespace ? collections[object.kind] : undefined;
    if (collection === undefined) continue;
    const made = await kube.request('POST', `${collection}?fieldValidation=Strict`, object);
    assert.equal(made.code, 201, `${object.kind}: ${made.message}`);
    assert.deepEqual(made.warnings, [], object.kind);
  }
  await eventually(async () => {
    const url = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const { items } = (await kube.request('GET', url)).body as { items: readonly unknown[] };
    return items.length === pods ? undefined : `${items.length} of ${pods} pods`;
  });
}

test('the operator, also with a cluster-critical priority', async () => {
  const props = {
    image: 'example.test/rossoctl:1',
    namespace,
    priorityClassName: 'system-cluster-critical',
    replicas: 3,
  };
  await runs((chart) => new AgentPlatform(chart, 'p', props), 'app.kubernetes.io/component=operator', 3);
});

test('an agent with nothing but a name and an image', async () => {
  await runs((chart) => new Agent(chart, 'a', { name: 'weather', image: 'i' }), 'app.kubernetes.io/name=weather', 1);
});

test('an agent as a StatefulSet, with a user and a writable root', async () => {
  const props = {
    name: 'memory',
    image: 'i',
    kind: 'StatefulSet',
    replicas: 1,
    user: 1000,
    writableRoot: true,
  } as const;
  await runs((chart) => new Agent(chart, 'a', { ...props, env: { PORT: '1' } }), 'app.kubernetes.io/name=memory', 1);
});

test('a tool', async () => {
  await runs((chart) => new Tool(chart, 't', { name: 'search', image: 'i' }), 'app.kubernetes.io/name=search', 1);
});
