/** What Pulumi waits for of each AgentRuntime: nothing that a healthy workload would never become. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { conditions } from '../../stacks/awaited.ts';
import type { Manifest } from '../../stacks/tree.ts';

const everywhere = { agent: true, tool: false };
const both = '["condition=Ready","condition=PodsInjected"]';
const ready = 'condition=Ready';

function workload(kind: string, spec: object = {}): Manifest {
  const apiVersion = kind.endsWith('Job') ? 'batch/v1' : 'apps/v1';
  return Object.assign({ apiVersion, kind, metadata: { namespace: 'team1', name: 'w' } }, { spec });
}

function runtimeOf({ apiVersion, kind, metadata }: Manifest, type = 'agent'): Manifest {
  const spec = { type, targetRef: { apiVersion, kind, name: metadata.name } };
  return Object.assign({ apiVersion: 'agent.rossoctl.dev/v1alpha1', kind: 'AgentRuntime', metadata }, { spec });
}

const off = { metadata: { labels: { 'rossoctl.io/inject': 'disabled' } } };
const rows: readonly (readonly [what: string, workload: Manifest, waits: string])[] = [
  ['a Deployment', workload('Deployment'), both],
  ['a StatefulSet', workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate' } }), both],
  ['a DaemonSet', workload('DaemonSet'), both],
  ['a Deployment that opts out', workload('Deployment', { template: off }), ready],
  ['a CronJob, whose runs under way stay as they are', workload('CronJob'), ready],
  ['a CronJob that opts out', workload('CronJob', { jobTemplate: { spec: { template: off } } }), ready],
  ['a Job', workload('Job', { suspend: true }), ready],
  ['a paused Deployment', workload('Deployment', { paused: true }), ready],
  ['a StatefulSet that waits for a person', workload('StatefulSet', { updateStrategy: { type: 'OnDelete' } }), ready],
  [
    'a StatefulSet that is rolled in part',
    workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    ready,
  ],
];
for (const [what, object, waits] of rows) {
  test(`${what}: ${waits}`, () => {
    const runtime = runtimeOf(object);
    assert.equal(conditions([object, runtime], everywhere)(runtime), waits);
    assert.equal(conditions([object, runtime], everywhere)(object), undefined);
  });
}

test('a target that is made elsewhere, and one of another namespace, say nothing against it', () => {
  const runtime = runtimeOf(workload('Deployment'));
  assert.equal(conditions([runtime], everywhere)(runtime), both);
  const namesake = { ...workload('Deployment', { template: off }), metadata: { namespace: 'team2', name: 'w' } };
  assert.equal(conditions([namesake, runtime], everywhere)(runtime), both);
});

test('tools, kill switches and namespaces that do not opt in: as the platform says', () => {
  const tool = runtimeOf(workload('Deployment'), 'tool');
  const agent = runtimeOf(workload('Deployment'));
  assert.equal(conditions([], everywhere)(tool), ready);
  assert.equal(conditions([], { agent: true, tool: true })(tool), both);
  assert.equal(conditions([], { agent: false, tool: false })(agent), ready);
  assert.equal(conditions([], { ...everywhere, namespaces: ['team1'] })(agent), both);
  assert.equal(conditions([], { ...everywhere, namespaces: ['other'] })(agent), ready);
});
