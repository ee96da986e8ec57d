/** The CEL expressions that Flux is given for the health of our kinds, evaluated by the API server's own CEL on statuses as they are stored. */

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { apiGroup } from '../../runtime/api/names.ts';
import { celChecks } from '../../stacks/gitops/health.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { appOf } from '../support/environments.ts';
import { eventually, type Json, type Kube, kubeOf } from './kube.ts';

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };

let plane: ControlPlane;
let kube: Kube;
before(async () => {
  plane = await startControlPlane({ name: 'gitops-health' });
  kube = kubeOf(plane);
  const definitions = manifestsOf(appOf('dev')).filter(({ kind }) => kind === 'CustomResourceDefinition');
  for (const each of definitions) await made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', each);
  for (const { kind, plural, spec } of ours) {
    const object = { apiVersion: `${apiGroup}/v1alpha1`, kind, metadata: { name: 'weather' }, spec };
    await eventually(async () => {
      const code = await kube.status(collection(plural));
      return code === 200 ? undefined : `${plural} are answered ${code}`;
    });
    await made(collection(plural), object);
    await policy(kind, plural);
  }
});
after(async () => {
  await kube.close();
  await plane.stop();
});

const collection = (plural: string) => `/apis/${apiGroup}/v1alpha1/namespaces/default/${plural}`;
const ours = [
  { ...kinds.agentRuntime, spec: { type: 'agent', targetRef } },
  { ...kinds.agentCard, spec: { targetRef } },
];

async function made(url: string, object: object): Promise<void> {
  const { code, message } = await kube.request('POST', url, object);
  assert.equal(code, 201, message);
}

/** Flux evaluates with the object's members as variables, a policy with the object as one. */
const ofObject = (expression: string) => expression.replaceAll(/\b(status|metadata)\./g, 'object.$1.');

/** A policy that refuses nothing and warns of what the two expressions say. */
async function policy(kind: string, plural: string): Promise<void> {
  const [check] = celChecks([kind]);
  assert.ok(check !== undefined, kind);
  const said = (['failed', 'current'] as const).map((name) => `'${name}=' + string(${ofObject(check[name])})`);
  const metadata = { name: `health-${plural}` };
  const rule = { apiGroups: [apiGroup], apiVersions: ['*'], operations: ['UPDATE'], resources: [`${plural}/status`] };
  await made(policies, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', messageExpression: said.join(" + ' ' + ") }],
    },
  });
  await made(policies.replace('policies', 'policybindings'), {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Warn'] },
  });
}

/** As the operator would have written it for a first generation; the condition before `Ready` must not count. */
function status(ready: 'True' | 'False', reason: string, more: Json = {}): Json {
  const condition = (type: string, value: string) => ({
    type,
    status: value,
    reason,
    message: 'm',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const conditions = [condition('Aforehand', ready === 'True' ? 'False' : 'True'), condition('Ready', ready)];
  return { observedGeneration: 1, conditions, ...more };
}

const cases: readonly (readonly [what: string, plural: string, status: Json, said: string])[] = [
  [
    'an enrolled runtime',
    'agentruntimes',
    status('True', 'Configured', { phase: 'Active' }),
    'failed=false current=true',
  ],
  [
    'one that waits',
    'agentruntimes',
    status('False', 'TargetNotFound', { phase: 'Pending' }),
    'failed=false current=false',
  ],
  [
    'one that needs a person',
    'agentruntimes',
    status('False', 'ConfigInvalid', { phase: 'Error' }),
    'failed=true current=false',
  ],
  [
    'a status of an older spec',
    'agentruntimes',
    status('True', 'Configured', { phase: 'Active', observedGeneration: 0 }),
    'failed=false current=false',
  ],
  ['a ready card', 'agentcards', status('True', 'CardReady'), 'failed=false current=true'],
  ['a card not fetched yet', 'agentcards', status('False', 'NotSynced'), 'failed=false current=false'],
  ['a card that does not verify', 'agentcards', status('False', 'NotVerified'), 'failed=true current=false'],
  ['a card that is too large', 'agentcards', status('False', 'CardTooLarge'), 'failed=true current=false'],
];
for (const [what, plural, written, said] of cases) {
  test(`${what}: ${said}`, async () => {
    const url = `${collection(plural)}/weather/status?dryRun=All`;
    await eventually(async () => {
      const contentType = 'application/merge-patch+json';
      const { code, message, warnings } = await kube.request('PATCH', url, { status: written }, { contentType });
      assert.equal(code, 200, message);
      // A policy is not in force at once.
      return warnings.some((each) => each.includes(said)) ? undefined : warnings.join('; ') || 'no warning yet';
    }, 15_000);
  });
}
