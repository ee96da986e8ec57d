/** The table of kinds: which are supported, what the cache keeps of them, and when a Job can still be labelled. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../runtime/engine/types.ts';
import { rowOf, workloadRows } from '../../../runtime/workload/kinds.ts';
import { workloadOf } from '../../../runtime/workload/workload.ts';
import { object, workload } from './workloads.ts';

/** Group counts, version does not, and the kind's name alone is not enough. */
const references: readonly (readonly [apiVersion: string, kind: string, supported: boolean])[] = [
  ['apps/v1', 'Deployment', true],
  ['apps/v1beta1', 'Deployment', true],
  ['apps/v1', 'StatefulSet', true],
  ['apps/v1', 'DaemonSet', true],
  ['batch/v1', 'Job', true],
  ['batch/v1', 'CronJob', true],
  ['batch/v1beta1', 'CronJob', true],
  ['foo.example/v1', 'Deployment', false],
  ['v1', 'Deployment', false],
  ['extensions/v1beta1', 'Deployment', false],
  ['apps.example/v1', 'Deployment', false],
  ['apps/v1', 'Job', false],
  ['batch/v1', 'Deployment', false],
  ['apps/v1', 'ReplicaSet', false],
  ['apps/v1', 'deployment', false],
  ['v1', 'Pod', false],
  ['argoproj.io/v1alpha1', 'Rollout', false],
];

for (const [apiVersion, kind, supported] of references) {
  test(`VP-02 ${apiVersion} ${kind} is ${supported ? 'supported' : 'refused'}`, () => {
    assert.equal(rowOf({ apiVersion, kind }) !== undefined, supported);
  });
}

test('only kinds whose pods are replaced count as restarting', () => {
  const restarting = workloadRows.filter((row) => row.restartsPods).map((row) => row.kind);
  assert.deepEqual(restarting, ['Deployment', 'StatefulSet', 'DaemonSet']);
});

test('every row finds the template and says who the workload is', () => {
  for (const { kind } of workloadRows) {
    const { namespace, name, uid, ref, labels, templateLabels, serviceAccount, containers, row } = workload(kind);
    assert.deepEqual([namespace, name, uid, labels], ['team1', 'weather-agent', 'uid-1', {}]);
    assert.deepEqual(ref, { apiVersion: row.watch.kind.apiVersion, kind, name: 'weather-agent' });
    assert.deepEqual([templateLabels, serviceAccount], [{ app: 'weather-agent' }, 'weather-sa'], kind);
    assert.deepEqual(
      containers.map((container) => container.name),
      ['agent'],
    );
  }
});

test('what is kept gives the same view and drops what is large', () => {
  for (const { kind, watch, templatePath } of workloadRows) {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(10_000),
      'rossoctl.io/skills': '[]',
    };
    const full = object(kind, {
      metadata: { annotations, managedFields: [{ manager: 'kubectl' }] },
      template: { annotations: { 'rossoctl.io/config-hash': 'h' } },
    });
    const kept = watch.keep?.(full);
    assert.ok(kept !== undefined);
    const row = rowOf(kept);
    assert.ok(row !== undefined);
    const { object: _, containers, ...view } = workloadOf(row, kept);
    const { object: __, containers: all, ...expected } = workloadOf(row, full);
    assert.deepEqual(view, expected, kind);
    assert.deepEqual(
      containers,
      all.map(({ name, ports }) => ({ name, ports })),
    );
    assert.deepEqual(kept.metadata.annotations, { 'rossoctl.io/skills': '[]' });
    const text = JSON.stringify(kept);
    for (const gone of ['managedFields', 'example.test', 'emptyDir', '"env"']) assert.ok(!text.includes(gone), gone);
    assert.ok(templatePath.length >= 2 && text.length < 600, text);
  }
});

test('an object that is hardly one does not throw', () => {
  for (const { kind, watch, template, rollout, canLabelTemplate } of workloadRows) {
    const bare: KubeObject = { apiVersion: watch.kind.apiVersion, kind, metadata: {} };
    assert.equal(template(bare), undefined);
    assert.ok(['finished', 'running'].includes(rollout(bare)));
    assert.equal(canLabelTemplate(bare), kind !== 'Job');
    const row = rowOf(bare);
    assert.ok(row !== undefined);
    assert.deepEqual(workloadOf(row, watch.keep?.(bare) ?? bare).templateLabels, {});
  }
});

/** The API server opens a Job's template only while it is suspended and has never started. */
const jobs: readonly (readonly [what: string, suspend: boolean | undefined, status: object, can: boolean])[] = [
  ['suspended and never started', true, {}, true],
  ['running', false, { startTime: '2026-01-01T00:00:00Z', active: 1 }, false],
  ['not suspended, not yet seen by its controller', undefined, {}, false],
  ['suspended after it had started', true, { startTime: '2026-01-01T00:00:00Z' }, false],
  ['suspended with pods of an earlier start', true, { failed: 1 }, false],
  ['finished', false, { startTime: '2026-01-01T00:00:00Z', succeeded: 1 }, false],
];

for (const [what, suspend, status, can] of jobs) {
  test(`a Job that is ${what} ${can ? 'can' : 'cannot'} be labelled`, () => {
    const { row, object: job } = workload('Job', {
      spec: suspend === undefined ? {} : { suspend },
      status: { ...status },
    });
    assert.equal(row.canLabelTemplate(job), can);
  });
}
