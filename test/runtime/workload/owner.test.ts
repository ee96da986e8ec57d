/** PM-16: from a pod that is being created to the workload it belongs to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../runtime/engine/types.ts';
import { matches, ownerOf, type Owner, type OwnerLookUp } from '../../../runtime/workload/owner.ts';

function reference(apiVersion: string, kind: string, name: string, controller = true): OwnerReference {
  return { apiVersion, kind, name, uid: `uid-${name}`, controller };
}

function pod(metadata: ObjectMeta): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata };
}

/** The API server knows these objects by `Kind/name`, and nothing else. */
function known(objects: Readonly<Record<string, readonly OwnerReference[]>> = {}): OwnerLookUp {
  return (kind, name) => {
    const ownerReferences = objects[`${kind}/${name}`];
    return ownerReferences && { apiVersion: 'x/v1', kind, metadata: { name, ownerReferences } };
  };
}

const unknown: OwnerLookUp = () => 'unknown';

/** `P0` of the field reports. */
const hash = { 'pod-template-hash': '7d9f8c6b5' };
const replicaSet = reference('apps/v1', 'ReplicaSet', 'weather-agent-7d9f8c6b5');
const p0 = pod({ generateName: 'weather-agent-7d9f8c6b5-', labels: hash, ownerReferences: [replicaSet] });

const deployment = (name: string) => reference('apps/v1', 'Deployment', name);

/** `none`, or group/kind/name; a kind that is not known is written `?`. */
function told(owner: Owner): string {
  return 'none' in owner ? 'none' : `${owner.group ?? '?'}/${owner.kind ?? '?'}/${owner.name}`;
}

const cases: readonly (readonly [what: string, pod: KubeObject, lookUp: OwnerLookUp, expected: string])[] = [
  [
    'a ReplicaSet belongs to the Deployment that owns it, whatever its name',
    p0,
    known({ 'ReplicaSet/weather-agent-7d9f8c6b5': [deployment('weather')] }),
    'apps/Deployment/weather',
  ],
  [
    'a bare ReplicaSet is itself, though its name looks like a Deployment with a hash',
    p0,
    known({ 'ReplicaSet/weather-agent-7d9f8c6b5': [] }),
    'apps/ReplicaSet/weather-agent-7d9f8c6b5',
  ],
  [
    'a ReplicaSet of another controller is itself',
    p0,
    known({ 'ReplicaSet/weather-agent-7d9f8c6b5': [reference('argoproj.io/v1alpha1', 'Rollout', 'weather-agent')] }),
    'apps/ReplicaSet/weather-agent-7d9f8c6b5',
  ],
  [
    'a Deployment of a foreign group is no Deployment',
    p0,
    known({ 'ReplicaSet/weather-agent-7d9f8c6b5': [reference('foo.example/v1', 'Deployment', 'weather-agent')] }),
    'apps/ReplicaSet/weather-agent-7d9f8c6b5',
  ],
  [
    'an owner that is not the controller does not count',
    p0,
    known({
      'ReplicaSet/weather-agent-7d9f8c6b5': [reference('apps/v1', 'Deployment', 'decoy', false), deployment('weather')],
    }),
    'apps/Deployment/weather',
  ],
  ['a ReplicaSet that could not be read: the template hash', p0, unknown, 'apps/Deployment/weather-agent'],
  ['a ReplicaSet that does not exist: the template hash', p0, known(), 'apps/Deployment/weather-agent'],
  [
    'a ReplicaSet not to be had whose name does not fit is itself',
    pod({ labels: hash, ownerReferences: [reference('apps/v1', 'ReplicaSet', 'weather')] }),
    unknown,
    'apps/ReplicaSet/weather',
  ],
  [
    'without a template hash nothing is trimmed',
    pod({ ownerReferences: [replicaSet] }),
    unknown,
    'apps/ReplicaSet/weather-agent-7d9f8c6b5',
  ],
  [
    'a name that is nothing but the hash is not trimmed to nothing',
    pod({ labels: hash, ownerReferences: [reference('apps/v1', 'ReplicaSet', '-7d9f8c6b5')] }),
    unknown,
    'apps/ReplicaSet/-7d9f8c6b5',
  ],
  [
    'a StatefulSet',
    pod({ name: 'db-0', generateName: 'db-', ownerReferences: [reference('apps/v1', 'StatefulSet', 'db')] }),
    unknown,
    'apps/StatefulSet/db',
  ],
  ['a DaemonSet', pod({ ownerReferences: [reference('apps/v1', 'DaemonSet', 'log')] }), unknown, 'apps/DaemonSet/log'],
  [
    'a Job of a CronJob',
    pod({ ownerReferences: [reference('batch/v1', 'Job', 'report-29000000')] }),
    known({ 'Job/report-29000000': [reference('batch/v1', 'CronJob', 'report')] }),
    'batch/CronJob/report',
  ],
  [
    'a Job by itself',
    pod({ ownerReferences: [reference('batch/v1', 'Job', 'load')] }),
    known({ 'Job/load': [] }),
    'batch/Job/load',
  ],
  ['a Job not to be had', pod({ ownerReferences: [reference('batch/v1', 'Job', 'load')] }), unknown, 'batch/Job/load'],
  [
    'a Job of another controller is itself',
    pod({ ownerReferences: [reference('batch/v1', 'Job', 'load')] }),
    known({ 'Job/load': [reference('jobset.x-k8s.io/v1', 'JobSet', 'set')] }),
    'batch/Job/load',
  ],
  ['an unknown kind', pod({ ownerReferences: [reference('foo.example/v1', 'Thing', 'x')] }), unknown, 'none'],
  [
    'a StatefulSet of a foreign group',
    pod({ ownerReferences: [reference('apps.kruise.io/v1', 'StatefulSet', 'x')] }),
    unknown,
    'none',
  ],
  [
    'a mirror pod, owned by its node',
    pod({ name: 'x', ownerReferences: [reference('v1', 'Node', 'n')] }),
    unknown,
    'none',
  ],
  [
    'no owner, generateName with the hash',
    pod({ generateName: 'weather-7d9f8c6b5-', labels: hash }),
    unknown,
    'apps/Deployment/weather',
  ],
  ['no owner, generateName', pod({ generateName: 'weather-' }), unknown, '?/?/weather'],
  ['no owner, generateName with several dashes', pod({ generateName: 'weather--' }), unknown, '?/?/weather'],
  ['no owner, generateName before name', pod({ generateName: 'weather-', name: 'weather-x1' }), unknown, '?/?/weather'],
  ['a bare pod', pod({ name: 'weather' }), unknown, '?/?/weather'],
  [
    'an owner that is no controller, and a name',
    pod({ name: 'weather', ownerReferences: [reference('v1', 'ConfigMap', 'c', false)] }),
    unknown,
    '?/?/weather',
  ],
  ['nothing at all', pod({}), unknown, 'none'],
  ['only dashes', pod({ generateName: '---' }), unknown, 'none'],
];

for (const [what, of, lookUp, expected] of cases) {
  test(`PM-16 ${what} → ${expected}`, () => {
    const owner = ownerOf(of, lookUp);
    assert.equal(told(owner), expected);
    assert.ok(('none' in owner ? owner.none : owner.via).length > 0, 'says why');
  });
}

test('PM-16 an owner matches a target of its group, kind and name', () => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };
  const owner: Owner = { group: 'apps', kind: 'Deployment', name: 'weather', via: 'test' };
  assert.ok(matches(owner, target));
  assert.ok(matches(owner, { ...target, apiVersion: 'apps/v1beta1' }));
  assert.ok(!matches(owner, { ...target, apiVersion: 'foo.example/v1' }));
  assert.ok(!matches(owner, { ...target, kind: 'StatefulSet' }));
  assert.ok(!matches(owner, { ...target, name: 'weather-agent' }));
  assert.ok(matches({ name: 'weather', via: 'test' }, { ...target, kind: 'StatefulSet' }), 'known by name alone');
  assert.ok(!matches({ none: 'test' }, target));
});

test('PM-16 no pod makes it throw', () => {
  const owners = fc.array(
    fc.record({
      apiVersion: fc.constantFrom('apps/v1', 'batch/v1', 'v1', '', '/', 'x/y/z'),
      kind: fc.constantFrom('ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'Thing', ''),
      name: fc.string(),
      uid: fc.string(),
      controller: fc.boolean(),
    }),
    { maxLength: 3 },
  );
  const metadata = fc.record(
    {
      name: fc.string(),
      generateName: fc.string(),
      labels: fc.dictionary(fc.constantFrom('pod-template-hash', 'a'), fc.string()),
      ownerReferences: owners,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      metadata,
      owners,
      fc.constantFrom('unknown' as const, undefined, 'object' as const),
      (metadata, above, answer) => {
        const lookUp: OwnerLookUp = (kind) =>
          answer === 'object' ? { apiVersion: 'apps/v1', kind, metadata: { ownerReferences: above } } : answer;
        assert.notEqual(told(ownerOf(pod(metadata), lookUp)), '');
      },
    ),
  );
});
