/** Every rule of the Pod Security Standard "restricted", broken one at a time, in every place where a pod can be written. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, type Chart } from 'cdk8s';
import * as kplus from 'cdk8s-plus-28';
import { Agent, AgentPlatform, RestrictedPods, Tool } from '../../constructs/index.ts';
import { restrictedBreaches, restrictedRules } from '../../constructs/restricted-profile.ts';
import { breaking, container, passing, pod } from './restricted-fixtures.ts';
import { synthesized } from './synthesized.ts';

const breachesOf = (spec: object, annotations: object = {}) =>
  restrictedBreaches({ path: 'spec', spec: { ...spec }, annotations: { ...annotations } });

for (const { rule, path, spec, annotations } of breaking) {
  test(`${rule}: ${path} breaks this rule alone`, () => {
    const place = path.startsWith('annotations') ? 'metadata' : 'spec';
    const found = breachesOf(spec, annotations).map((breach) => [breach.rule, breach.path]);
    assert.deepEqual(found, [[rule, `${place}.${path}`]]);
  });
}

test('every rule is broken by one of them', () => {
  assert.deepEqual([...new Set(breaking.map(({ rule }) => rule))].sort(), restrictedRules);
});

for (const [what, spec] of Object.entries(passing)) {
  test(`passes: ${what}`, () => assert.deepEqual(breachesOf(spec), []));
}

test('a rule that the pod keeps for its containers is still broken by the container that says otherwise', () => {
  const spec = pod({
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container(), container({ name: 'b' }, { seccompProfile: { type: 'Unconfined' } })],
  });
  assert.deepEqual(
    breachesOf(spec).map(({ path }) => path),
    ['spec.containers[1].securityContext.seccompProfile.type'],
  );
});

const privileged = pod({ containers: [container({}, { privileged: true })] });
const template = { metadata: { labels: { a: 'b' } }, spec: privileged };
const metadata = { name: 'x' };
/** Kind → what it says, and where the pod is in it. */
const places: readonly (readonly [apiVersion: string, kind: string, content: object, path: string])[] = [
  ['v1', 'Pod', { spec: privileged }, 'spec'],
  ['v1', 'PodTemplate', { template }, 'template.spec'],
  ['v1', 'ReplicationController', { spec: { template } }, 'spec.template.spec'],
  ['apps/v1', 'Deployment', { spec: { template } }, 'spec.template.spec'],
  ['apps/v1', 'StatefulSet', { spec: { template } }, 'spec.template.spec'],
  ['apps/v1', 'DaemonSet', { spec: { template } }, 'spec.template.spec'],
  ['apps/v1', 'ReplicaSet', { spec: { template } }, 'spec.template.spec'],
  ['batch/v1', 'Job', { spec: { template } }, 'spec.template.spec'],
  ['batch/v1', 'CronJob', { spec: { jobTemplate: { spec: { template } } } }, 'spec.jobTemplate.spec.template.spec'],
  ['argoproj.io/v1alpha1', 'Rollout', { spec: { template } }, 'spec.template.spec'],
  [
    'v1',
    'List',
    {
      items: [
        { kind: 'Pod', spec: pod() },
        { kind: 'Pod', spec: privileged },
      ],
    },
    'items[1].spec',
  ],
];
for (const [apiVersion, kind, content, path] of places) {
  test(`a ${kind} is refused with construct, field, value and remedy`, () => {
    const build = (chart: Chart) => {
      new ApiObject(chart, 'mine', { apiVersion, kind, metadata, ...content });
      chart.with(new RestrictedPods());
    };
    const says = `[test/mine] ${kind} x, ${path}.containers[0].securityContext.privileged: true is not allowed: leave it out (Pod Security "restricted", Privileged Containers)`;
    assert.throws(
      () => synthesized(build),
      ({ message }: Error) => message.endsWith(`errors:\n  ${says}`),
    );
  });
}

test('an L1 and a workload of cdk8s-plus are seen as well', () => {
  assert.throws(
    () =>
      synthesized((chart) => {
        new kplus.k8s.KubePod(chart, 'l1', { metadata, spec: { containers: [{ name: 'a', image: 'b' }] } });
        new kplus.Deployment(chart, 'plus', { containers: [{ image: 'c' }] });
        chart.with(new RestrictedPods());
      }),
    ({ message }: Error) =>
      /\[test\/l1\] Pod x, spec\.containers\[0\]\.securityContext\.allowPrivilegeEscalation: is missing: write false/.test(
        message,
      ) && /\[test\/plus\/Resource\] Deployment test-plus, spec\.template.*Seccomp/.test(message),
  );
});

test('what the constructs here make passes', () => {
  const objects = synthesized((chart) => {
    chart.with(new RestrictedPods());
    new AgentPlatform(chart, 'p', { image: 'a', certificates: 'cert-manager' });
    new Agent(chart, 'agent', { image: 'a', namespace: 'team1' });
    new Tool(chart, 'tool', { image: 'a', namespace: 'team1', kind: 'StatefulSet', writableRoot: true, user: 7 });
  });
  assert.equal(objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind)).length, 3);
});
