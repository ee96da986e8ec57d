/** What Pulumi waits for of each AgentRuntime: nothing that a healthy workload would never become. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { conditions } from '../../stacks/awaited.ts';
import type { Manifest } from '../../stacks/tree.ts';

const everywhere = { agent: true, tool: false };

/** Of an AgentRuntime whose target is in the app, and comes after it. */
const ahead = (type: string) =>
  `jsonpath={.status.conditions[?(@.type == "${type}" && @.status == "True") || (@.type == "Ready" && @.reason == "TargetNotFound")]}`;
const both = JSON.stringify([ahead('Ready'), ahead('PodsInjected')]);
const ready = ahead('Ready');
/** Of one whose target is made elsewhere. */
const bothThere = '["condition=Ready","condition=PodsInjected"]';
const readyThere = 'condition=Ready';

function workload(kind: string, spec: object = {}): Manifest {
  const apiVersion = kind.endsWith('Job') ? 'batch/v1' : 'apps/v1';
  return Object.assign({ apiVersion, kind, metadata: { namespace: 'team1', name: 'w' } }, { spec });
}

function runtimeOf({ apiVersion, kind, metadata }: Manifest, type = 'agent'): Manifest {
  const spec = { type, targetRef: { apiVersion, kind, name: metadata.name } };
  return Object.assign({ apiVersion: 'agent.rossoctl.dev/v1alpha1', kind: 'AgentRuntime', metadata }, { spec });
}

const off = { metadata: { labels: { 'rossoctl.io/inject': 'disabled' } } };
const hash = 'jsonpath={.spec.template.metadata.annotations["rossoctl.io/config-hash"]}';
const hashOfRuns = hash.replace('.spec.', '.spec.jobTemplate.spec.');
const rolledOut = {
  Deployment: [
    'jsonpath={.status.observedGeneration}',
    'jsonpath={$[?$.spec.replicas == 0 || $.status.replicas == $.spec.replicas]}',
    'jsonpath={$[?$.status.updatedReplicas == $.status.replicas]}',
    'jsonpath={$[?$.status.availableReplicas == $.status.replicas]}',
  ],
  StatefulSet: [
    'jsonpath={.status.observedGeneration}',
    'jsonpath={$[?$.spec.replicas == 0 || $.status.updateRevision == $.status.currentRevision]}',
    'jsonpath={$[?$.spec.replicas == 0 || $.status.readyReplicas == $.spec.replicas]}',
  ],
  DaemonSet: [
    'jsonpath={.status.observedGeneration}',
    'jsonpath={$[?$.status.desiredNumberScheduled == 0 || $.status.updatedNumberScheduled == $.status.desiredNumberScheduled]}',
    'jsonpath={$[?$.status.desiredNumberScheduled == 0 || $.status.numberAvailable == $.status.desiredNumberScheduled]}',
  ],
  Job: ['jsonpath={$[?$.spec.suspend == true || $.status.conditions[?@.type == "Complete" && @.status == "True"]]}'],
};
const rolling = { updateStrategy: { type: 'RollingUpdate' } };
const inPart = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } };
const optsOut = { jobTemplate: { spec: { template: off } } };

const rows: readonly (readonly [what: string, workload: Manifest, waits: string, itself: readonly string[]])[] = [
  ['a Deployment', workload('Deployment'), both, [hash, ...rolledOut.Deployment]],
  ['a StatefulSet', workload('StatefulSet', rolling), both, [hash, ...rolledOut.StatefulSet]],
  ['a DaemonSet', workload('DaemonSet'), both, [hash, ...rolledOut.DaemonSet]],
  ['a Deployment that opts out', workload('Deployment', { template: off }), ready, [hash, ...rolledOut.Deployment]],
  ['a CronJob, whose runs under way stay as they are', workload('CronJob'), ready, [hashOfRuns]],
  ['a CronJob that opts out', workload('CronJob', optsOut), ready, [hashOfRuns]],
  ['a Job', workload('Job', { suspend: true }), ready, [hash, ...rolledOut.Job]],
  ['a paused Deployment', workload('Deployment', { paused: true }), ready, [hash]],
  [
    'a StatefulSet that waits for a person',
    workload('StatefulSet', { updateStrategy: { type: 'OnDelete' } }),
    ready,
    [hash],
  ],
  ['a StatefulSet that is rolled in part', workload('StatefulSet', inPart), ready, [hash]],
];
for (const [what, object, waits, itself] of rows) {
  test(`${what}: what is awaited of its AgentRuntime, and of itself`, () => {
    const runtime = runtimeOf(object);
    const conditionOf = conditions([object, runtime], everywhere);
    assert.equal(conditionOf(runtime), waits);
    assert.equal(conditionOf(object), itself.length === 1 ? itself[0] : JSON.stringify(itself));
    assert.equal(
      conditions([object], everywhere)(object),
      undefined,
      'the provider knows how to wait for what nobody enrols',
    );
  });
}

test('no expression has an = of its own, which the provider takes for the end of the path', () => {
  for (const [, object] of rows) {
    const runtime = runtimeOf(object);
    for (const each of [object, runtime]) {
      const text = (conditions([object, runtime], everywhere)(each) ?? '').replaceAll('jsonpath=', '');
      assert.doesNotMatch(text, /(?<!=)=(?!=)/);
    }
  }
});

test('a target that is made elsewhere, and one of another namespace, say nothing against it', () => {
  const runtime = runtimeOf(workload('Deployment'));
  assert.equal(conditions([runtime], everywhere)(runtime), bothThere);
  const namesake = { ...workload('Deployment', { template: off }), metadata: { namespace: 'team2', name: 'w' } };
  assert.equal(conditions([namesake, runtime], everywhere)(runtime), bothThere);
});

test('tools, kill switches and namespaces that do not opt in: as the platform says', () => {
  const tool = runtimeOf(workload('Deployment'), 'tool');
  const agent = runtimeOf(workload('Deployment'));
  assert.equal(conditions([], everywhere)(tool), readyThere);
  assert.equal(conditions([], { agent: true, tool: true })(tool), bothThere);
  assert.equal(conditions([], { agent: false, tool: false })(agent), readyThere);
  assert.equal(conditions([], { ...everywhere, namespaces: ['team1'] })(agent), bothThere);
  assert.equal(conditions([], { ...everywhere, namespaces: ['other'] })(agent), readyThere);
});
