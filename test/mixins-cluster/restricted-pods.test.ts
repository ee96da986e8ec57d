/** `RestrictedPods` and Kubernetes' own Pod Security admission agree: what the one refuses the other refuses, and what passes, passes. */

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { breaking, passing, type PodSpec } from '../constructs/restricted-fixtures.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type Answer, type Kube, kubeOf } from '../policy-cluster/kube.ts';
import { makeNamespace } from '../policy-cluster/policy-bed.ts';

const namespace = 'restricted';
let plane: ControlPlane;
let kube: Kube;
before(async () => {
  plane = await startControlPlane({ name: 'mixins' });
  kube = kubeOf(plane);
  await makeNamespace(kube, namespace, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await kube.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
});
after(async () => {
  await kube.close();
  await plane.stop();
});

function create(spec: PodSpec, annotations: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const metadata = { generateName: 'x-', annotations };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { automountServiceAccountToken: false, ...spec } };
  return kube.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, object);
}

for (const { rule, path, spec, annotations, impossible } of breaking) {
  test(`${rule}: the API server refuses ${path} too`, async () => {
    const { code, message } = await create(spec, annotations);
    assert.match(message, impossible ? /^Pod "x-\w+" is invalid/ : /violates PodSecurity "restricted/);
    assert.equal(code, impossible ? 422 : 403);
  });
}

for (const [what, spec] of Object.entries(passing)) {
  test(`the API server takes it too: ${what}`, async () => {
    const { code, message } = await create(spec);
    assert.equal(code, 201, message);
  });
}
