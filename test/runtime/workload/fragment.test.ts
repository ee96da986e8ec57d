/** What enrolment writes and release takes away, judged on whole objects. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadRows, type WorkloadKind } from '../../../runtime/workload/kinds.ts';
import { enrolled, enrolment, release, takesManagedBy } from '../../../runtime/workload/fragment.ts';
import { workloadOf } from '../../../runtime/workload/workload.ts';
import { merged, object, workload, type WorkloadFacts } from './workloads.ts';

const configHash = 'a'.repeat(64);
const facts = { type: 'agent', configHash, managedBy: true } as const;

/** What a user has on a workload before it is enrolled, some of it under our own prefix. */
const foreign: WorkloadFacts = {
  metadata: {
    labels: { app: 'weather-agent', 'rossoctl.io/inject': 'enabled' },
    annotations: { 'rossoctl.io/skills': '["forecast"]', 'deployment.kubernetes.io/revision': '3' },
  },
  template: {
    labels: { app: 'weather-agent', 'rossoctl.io/spiffe-helper-inject': 'false' },
    annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' },
  },
};

/** A suspended Job is the only one whose template is still open. */
function labelled(kind: WorkloadKind, more: WorkloadFacts = foreign) {
  return workload(kind, kind === 'Job' ? { ...more, spec: { suspend: true } } : more);
}

test('the fragment names the workload, carries its uid, and holds our keys alone', () => {
  assert.deepEqual(enrolment(workload('Deployment'), facts).body, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'team1',
      name: 'weather-agent',
      uid: 'uid-1',
      labels: { 'rossoctl.io/type': 'agent', 'app.kubernetes.io/managed-by': 'rossoctl-operator' },
    },
    spec: {
      template: {
        metadata: {
          labels: { 'rossoctl.io/type': 'agent' },
          annotations: { 'rossoctl.io/config-hash': configHash },
        },
      },
    },
  });
});

test('a CronJob carries it in the template of its jobs', () => {
  const { body } = enrolment(workload('CronJob'), { ...facts, type: 'tool', managedBy: false });
  assert.deepEqual(body['spec'], {
    jobTemplate: {
      spec: {
        template: {
          metadata: { labels: { 'rossoctl.io/type': 'tool' }, annotations: { 'rossoctl.io/config-hash': configHash } },
        },
      },
    },
  });
  assert.deepEqual(body.metadata.labels, { 'rossoctl.io/type': 'tool' });
});

for (const { kind } of workloadRows) {
  test(`RC-01 enrolling a ${kind} leaves every other key alone, also restartedAt`, () => {
    const before = labelled(kind);
    const after = merged(before.object, enrolment(before, facts).body);
    const view = workloadOf(before.row, after as typeof before.object);
    assert.deepEqual(view.templateAnnotations, {
      ...before.templateAnnotations,
      'rossoctl.io/config-hash': configHash,
    });
    assert.deepEqual(view.templateLabels, { ...before.templateLabels, 'rossoctl.io/type': 'agent' });
    assert.deepEqual(enrolled(view), { type: 'agent', configHash, complete: true });
  });

  test(`RC-03 releasing a ${kind} restores it byte for byte`, () => {
    const before = labelled(kind);
    const enrolledObject = merged(before.object, enrolment(before, facts).body) as typeof before.object;
    const patch = release(workloadOf(before.row, enrolledObject));
    assert.ok(patch !== undefined);
    assert.deepEqual(patch.target, {
      kind: before.row.watch.kind,
      namespace: 'team1',
      name: 'weather-agent',
      uid: 'uid-1',
    });
    const restored = merged(enrolledObject, patch.body) as typeof before.object;
    assert.equal(JSON.stringify(restored), JSON.stringify(before.object));
    assert.equal(release(workloadOf(before.row, restored)), undefined, 'nothing is left to remove');
  });
}

test('RC-03 the release names only keys that are present', () => {
  const half = workload('Deployment', { metadata: { labels: { 'rossoctl.io/type': 'agent' } } });
  assert.deepEqual(release(half)?.body, { metadata: { labels: { 'rossoctl.io/type': null } } });
  const hashOnly = workload('Deployment', { template: { annotations: { 'rossoctl.io/config-hash': 'h' } } });
  assert.deepEqual(release(hashOnly)?.body, {
    spec: { template: { metadata: { annotations: { 'rossoctl.io/config-hash': null } } } },
  });
  assert.equal(release(workload('Deployment')), undefined);
  assert.equal(release(workload('Deployment', foreign)), undefined);
});

test('RC-03 a release limited to one type leaves the label of another', () => {
  const labels = { 'rossoctl.io/type': 'tool' };
  const tool = workload('Deployment', { metadata: { labels }, template: { labels } });
  assert.equal(release(tool, { type: 'agent' }), undefined);
  assert.ok(release(tool, { type: 'tool' }) !== undefined);
});

test('RC-03 the template of a Job that has started is left alone, its metadata is not', () => {
  const ours = { 'rossoctl.io/type': 'agent' };
  const template = { labels: ours, annotations: { 'rossoctl.io/config-hash': 'h' } };
  const started = workload('Job', {
    metadata: { labels: ours },
    template,
    status: { startTime: '2026-01-01T00:00:00Z' },
  });
  assert.deepEqual(release(started)?.body, { metadata: { labels: { 'rossoctl.io/type': null } } });
});

for (const [value, takes] of [
  [undefined, true],
  ['rossoctl-operator', true],
  ['Helm', false],
  ['pulumi', false],
  ['', false],
] as const) {
  test(`GO-02 managed-by ${value === undefined ? 'absent' : `"${value}"`} is ${takes ? 'ours to state' : 'never taken'}`, () => {
    const labels = value === undefined ? {} : { 'app.kubernetes.io/managed-by': value };
    const before = workload('Deployment', { metadata: { labels } });
    assert.equal(takesManagedBy(before), takes);
    const fragment = enrolment(before, { ...facts, managedBy: takesManagedBy(before) });
    const after = workloadOf(before.row, merged(before.object, fragment.body) as typeof before.object);
    assert.equal(after.labels['app.kubernetes.io/managed-by'], takes ? 'rossoctl-operator' : value);
    const restored = merged(after.object, release(after)?.body) as typeof before.object;
    const left = restored.metadata.labels?.['app.kubernetes.io/managed-by'];
    assert.equal(left, takes ? undefined : value);
  });
}

test('enrolled tells how far it got', () => {
  const type = { 'rossoctl.io/type': 'agent' };
  const hash = { annotations: { 'rossoctl.io/config-hash': 'h' } };
  const states: readonly (readonly [WorkloadFacts, object])[] = [
    [{}, { complete: false }],
    [{ metadata: { labels: type } }, { complete: false }],
    [{ template: { labels: type } }, { type: 'agent', complete: false }],
    [
      { metadata: { labels: type }, template: { labels: type } },
      { type: 'agent', complete: false },
    ],
    [{ template: { labels: type, ...hash } }, { type: 'agent', configHash: 'h', complete: false }],
    [
      { metadata: { labels: type }, template: { labels: type, ...hash } },
      { type: 'agent', configHash: 'h', complete: true },
    ],
    [
      { metadata: { labels: { 'rossoctl.io/type': 'tool' } }, template: { labels: type, ...hash } },
      { type: 'agent', configHash: 'h', complete: false },
    ],
  ];
  for (const [state, expected] of states) assert.deepEqual(enrolled(workload('Deployment', state)), expected);
});

test('neither changes the object it is asked about', () => {
  const before = object('Deployment', foreign);
  const text = JSON.stringify(before);
  const view = workload('Deployment', foreign);
  enrolment(view, facts);
  release(view);
  assert.equal(JSON.stringify(view.object), text);
});
