import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fragment, KubeObject } from '../../runtime/engine/types.ts';
import { configMaps, eventually, metric } from '../support/engine-bed.ts';
import { useWidgetBed } from '../support/widget-bed.ts';
import { finalizer, widget } from '../support/widget.ts';

const { now, put, drop, kind, running, make, read, target, ready, writes, pass } = useWidgetBed('controller');

describe('a controller', () => {
  test('enrols with three requests: finalizer, fragment, status; and releases what it owned and nothing else', async (t) => {
    const original = await put('t', { a: '1' });
    await running(t);
    await make('w', 't');
    await ready('w');
    assert.deepEqual((await read('w')).metadata.finalizers, [finalizer]);
    assert.equal((await target('t')).metadata.labels?.['color'], 'red');
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(
      writes().map(
        ({ method, url }) => `${method} ${new URL(url, 'https://x').pathname.replace(/^.*namespaces\/[^/]+/, '')}`,
      ),
      ['PATCH /widgets/w', 'PATCH /configmaps/t', 'PATCH /widgets/w/status'],
    );
    await now().direct.client.remove({ kind, namespace: now().namespace, name: 'w' });
    await eventually(async () => assert.rejects(read('w'), { status: 404 }));
    const after = await target('t');
    assert.deepEqual(after.metadata.labels, original.metadata.labels);
    assert.equal(after.metadata.annotations, undefined);
    assert.deepEqual(after.data, { a: '1' });
  });

  test('RC-06: ten forced passes and a restart in a steady state write nothing', async (t) => {
    await put('t');
    const manager = await running(t);
    await make('w', 't');
    await ready('w');
    await pass(manager, 'w', 1);
    const before = writes().length;
    await pass(manager, 'w', 10);
    await manager.stop();
    const second = await running(t);
    await pass(second, 'w', 2);
    assert.equal(writes().length, before);
  });

  test('a change of status alone does not wake it, a change of its target does', async (t) => {
    await put('t');
    const seen: string[] = [];
    await running(t, { onObserve: ({ metadata }) => void seen.push(metadata.resourceVersion ?? '') });
    await make('w', 't');
    await ready('w');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = seen.length;
    const status = { conditions: [{ type: 'Foreign', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] };
    const body = { ...widget(kind, now().namespace, 'w', { target: 't', color: 'red' }), spec: undefined, status };
    await now().direct.client.apply({ kind, body }, { fieldManager: 'foreign', subresource: 'status' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(seen.length, before);
    await now().direct.client.mergePatch(
      { kind: configMaps, namespace: now().namespace, name: 't' },
      { metadata: { labels: null } },
    );
    await eventually(async () => assert.equal((await target('t')).metadata.labels?.['color'], 'red'));
    assert.ok(seen.length > before);
    assert.equal((await read('w')).status?.conditions.length, 2, 'the foreign condition stays');
  });

  test('RC-02: a missing target is a status, not an error; it recovers when the target appears', async (t) => {
    const errorsBefore = await metric(now().bed, 'controller_runtime_reconcile_errors_total{controller="widget"}');
    await running(t);
    await make('w', 't');
    await ready('w', 'False');
    await put('t');
    await ready('w');
    await drop('t');
    await ready('w', 'False');
    assert.equal(
      await metric(now().bed, 'controller_runtime_reconcile_errors_total{controller="widget"}'),
      errorsBefore,
    );
  });

  test('RC-02: a pass that keeps failing backs off, and is told a few times, not once a pass', async (t) => {
    await put('t');
    let failing = true;
    let tries = 0;
    await running(t, {
      onObserve: () => {
        tries += 1;
        if (failing) throw new Error('the world is broken');
      },
    });
    await make('w', 't');
    await eventually(() => tries >= 8);
    failing = false;
    await ready('w');
    const lines = now().bed.log.lines.filter(({ fields }) => fields['key'] === `${now().namespace}/w`);
    assert.ok(lines.filter(({ level }) => level === 'info' || level === 'warn').length <= 3);
    assert.equal(lines.filter(({ level }) => level === 'error').length, 0);
  });

  test('RC-04: deletion ends with the target missing, and foreign finalizers stay', async (t) => {
    await running(t);
    const body = widget(kind, now().namespace, 'w', { target: 'nowhere', color: 'red' });
    await now().direct.client.create(kind, {
      ...body,
      metadata: { ...body.metadata, finalizers: ['engine.example/other'] },
    });
    await ready('w', 'False');
    await now().direct.client.remove({ kind, namespace: now().namespace, name: 'w' });
    await eventually(async () => assert.deepEqual((await read('w')).metadata.finalizers, ['engine.example/other']));
    await now().direct.client.mergePatch(
      { kind, namespace: now().namespace, name: 'w' },
      { metadata: { finalizers: null } },
    );
    await eventually(async () => assert.rejects(read('w'), { status: 404 }));
  });

  test('a fragment that states less takes the rest away, and a condition keeps its time until it flips', async (t) => {
    await put('t');
    const manager = await running(t);
    await make('w', 't');
    await ready('w');
    const before = (await read('w')).status?.conditions[0];
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await now().direct.client.mergePatch({ kind, namespace: now().namespace, name: 'w' }, { spec: { color: 'blue' } });
    await eventually(async () => assert.equal((await read('w')).status?.conditions[0]?.message, 'painted blue'));
    assert.equal((await target('t')).metadata.labels?.['color'], 'blue');
    const later = (await read('w')).status?.conditions[0];
    assert.deepEqual({ ...later, message: '' }, { ...before, message: '' });
    await manager.stop();
    // The next version of the controller no longer writes the annotation.
    const [map] = [await target('t')];
    const { namespace, name, uid } = map.metadata;
    const less = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, uid, labels: { color: 'blue' } } };
    await running(t, { plan: () => ({ apply: [{ kind: configMaps, body: less }] }) });
    await eventually(async () => assert.equal((await target('t')).metadata.annotations, undefined));
    assert.equal((await target('t')).metadata.labels?.['color'], 'blue');
  });

  test('what a plan creates is made once under the field manager; what has its name is left as it is, seen or not', async (t) => {
    const { namespace, direct } = now();
    const accounts = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true } as const;
    const stated = (kind: string, name: string, color: string): Fragment['body'] => ({
      apiVersion: 'v1',
      kind,
      metadata: { namespace, name, labels: { color } },
    });
    const seen = await put('seen', { a: '1' });
    // Accounts are not watched here: that this one exists only the API server can tell.
    const unseen = await direct.client.create(accounts, stated('ServiceAccount', 'unseen', 'blue'));
    const create: readonly Fragment[] = [
      { kind: configMaps, body: stated('ConfigMap', 'seen', 'red') },
      { kind: accounts, body: stated('ServiceAccount', 'unseen', 'red') },
      { kind: configMaps, body: stated('ConfigMap', 'fresh', 'red') },
    ];
    await put('t');
    const manager = await running(t, { plan: () => ({ create }) });
    await make('w', 't');
    await ready('w');
    const fresh = await target('fresh');
    assert.equal(fresh.metadata.labels?.['color'], 'red');
    assert.deepEqual(
      fresh.metadata.managedFields?.map(({ manager: by, operation }) => [by, operation]),
      [['widget-test', 'Update']],
    );
    const map = { kind: configMaps, namespace, name: 'fresh' };
    const painted = await direct.client.mergePatch(map, { metadata: { labels: { color: 'blue' } } });
    await pass(manager, 'w', 3);
    const version = ({ metadata }: KubeObject) => metadata.resourceVersion;
    assert.equal(version(await target('fresh')), version(painted));
    assert.equal(version(await target('seen')), version(seen));
    const account = await direct.client.get(accounts, { namespace, name: 'unseen' });
    assert.equal(version(account), version(unseen));
  });

  test('a namesake of what was observed is never touched', async (t) => {
    await put('t');
    const old = (await target('t')).metadata.uid;
    await drop('t');
    await put('t');
    const stale = { kind: configMaps, namespace: now().namespace, name: 't', uid: old };
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: now().namespace, name: 't', uid: old, labels: { x: 'y' } },
    };
    await running(t, {
      plan: () => ({ apply: [], patch: [{ target: stale, body: { data: { x: 'y' } } }], remove: [stale] }),
    });
    await make('w', 't');
    await eventually(() => writes().some(({ url, method }) => method === 'PATCH' && url.includes('/configmaps/t')));
    await now().direct.client.remove({ kind, namespace: now().namespace, name: 'w' });
    await eventually(async () => assert.rejects(read('w'), { status: 404 }));
    const { data, metadata } = await target('t');
    assert.deepEqual([data, metadata.labels, metadata.deletionTimestamp], [undefined, undefined, undefined]);
    await assert.rejects(now().direct.client.apply({ kind: configMaps, body }, { fieldManager: 'widget-test' }), {
      status: 422,
    });
  });
});
