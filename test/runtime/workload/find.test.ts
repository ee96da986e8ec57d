/** From a targetRef to its workload. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ObjectKey, Reader, Watch } from '../../../runtime/engine/types.ts';
import { findTarget } from '../../../runtime/workload/find.ts';
import { object } from './workloads.ts';

function cache(...objects: readonly KubeObject[]): Reader {
  return {
    get: <T extends KubeObject>(watch: Watch<T>, key: ObjectKey) =>
      objects.find(
        ({ kind, metadata }) =>
          kind === watch.kind.kind && metadata.name === key.name && metadata.namespace === key.namespace,
      ) as T | undefined,
    list: () => [],
  };
}

const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' };

test('a target is found by group, kind, name and the namespace of its runtime', () => {
  const reader = cache(object('StatefulSet'), object('Deployment'));
  const target = findTarget(reader, 'team1', { ...ref, apiVersion: 'apps/v1beta2' });
  assert.ok('found' in target);
  assert.deepEqual([target.found.ref, target.found.row.kind], [ref, 'Deployment']);
});

test('what is not there is missing, in another namespace as well', () => {
  const reader = cache(object('Deployment'));
  assert.deepEqual(findTarget(reader, 'team2', ref), { missing: true });
  assert.deepEqual(findTarget(reader, 'team1', { ...ref, name: 'weather' }), { missing: true });
  assert.deepEqual(findTarget(reader, 'team1', { ...ref, kind: 'DaemonSet' }), { missing: true });
});

test('an unsupported kind is answered with the supported ones, without asking the cache', () => {
  const never: Reader = {
    get: () => assert.fail('asked'),
    list: () => assert.fail('asked'),
  };
  assert.deepEqual(findTarget(never, 'team1', { ...ref, apiVersion: 'foo.example/v1' }), {
    unsupported:
      'foo.example/v1 Deployment cannot be a target; supported are apps/v1 Deployment, apps/v1 StatefulSet, apps/v1 DaemonSet, batch/v1 Job, batch/v1 CronJob',
  });
});

test('a cache that is not synced throws: not known is not missing', () => {
  const unsynced: Reader = {
    get: () => {
      throw new Error('NotSynced');
    },
    list: () => [],
  };
  assert.throws(() => findTarget(unsynced, 'team1', ref), /NotSynced/);
});
