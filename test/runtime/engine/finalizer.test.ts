import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../runtime/engine/client.ts';
import { addFinalizer, removeFinalizer } from '../../../runtime/engine/finalizer.ts';
import type { RequestSpec } from '../../../runtime/engine/transport.ts';
import type { Kind, KubeObject } from '../../../runtime/engine/types.ts';
import { refused, scriptedTransport } from '../../support/scripted-transport.ts';

const kind: Kind = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const finalizer = 'x/ours';
const object = (finalizers: readonly string[], uid = 'u', resourceVersion = '7'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'n', name: 'a', uid, resourceVersion, finalizers },
});

function rig(answer: (spec: RequestSpec) => unknown) {
  const transport = scriptedTransport(answer);
  return { sent: transport.sent, scope: { client: createClient(transport), kind, finalizer, call: {} } };
}

test('it is added beside others, only to the version that was seen, and not twice', async () => {
  const { sent, scope } = rig(() => object(['x/theirs', finalizer], 'u', '8'));
  const added = await addFinalizer(object(['x/theirs']), scope);
  assert.deepEqual(sent[0]?.body, {
    metadata: { finalizers: ['x/theirs', finalizer], resourceVersion: '7', uid: 'u' },
  });
  assert.deepEqual(added.metadata.finalizers, ['x/theirs', finalizer]);
  assert.equal(added.metadata.resourceVersion, '8');
  assert.equal(await addFinalizer(added, scope), added);
  assert.equal(sent.length, 1);
});

test('RC-04: when the list has changed it is read again, and the right one is taken off', async () => {
  const { sent, scope } = rig(({ method, body }) => {
    if (method === 'GET') return object(['x/new', finalizer]);
    if (JSON.stringify(body).includes('/finalizers/0')) throw refused(422);
    return object(['x/new'], 'u', '9');
  });
  assert.equal(await removeFinalizer(object([finalizer]), scope), '9');
  assert.deepEqual(sent.at(-1)?.body, [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'test', path: '/metadata/finalizers/1', value: finalizer },
    { op: 'remove', path: '/metadata/finalizers/1' },
  ]);
});

test('an object that is gone, a namesake, or one without it is done', async () => {
  for (const live of [undefined, object([finalizer], 'other'), object(['x/theirs'])]) {
    const { scope } = rig(({ method }) => {
      if (method !== 'GET') throw refused(422);
      if (live === undefined) throw refused(404);
      return live;
    });
    assert.equal(await removeFinalizer(object([finalizer]), scope), undefined);
  }
});

test('three tries, then the failure', async () => {
  const { sent, scope } = rig(({ method }) => {
    if (method !== 'GET') throw refused(422);
    return object([finalizer]);
  });
  await assert.rejects(removeFinalizer(object([finalizer]), scope), { status: 422 });
  assert.equal(sent.filter(({ method }) => method === 'PATCH').length, 3);
});
