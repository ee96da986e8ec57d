import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Bed,
  configMaps,
  createBed,
  createManagerOn,
  eventually,
  makeNamespace,
  metric,
  reach,
} from '../support/engine-bed.ts';
import { grant, makeServiceAccount } from '../support/service-account.ts';
import { useWatchBed } from '../support/watch-bed.ts';
import { installWidgets, widget, widgetController, widgetKind } from '../support/widget.ts';

const { now, put } = useWatchBed('degraded', ({ client }) => installWidgets(client, widgetKind()));
const widgets = widgetKind();
const timings = { backOff: { baseMs: 50, capMs: 400, jitter: 0.5 } };
const everything = (apiGroup: string, ...resources: string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs: ['get', 'list', 'watch', 'patch'],
});

async function bedOf(t: { after(fn: () => Promise<void>): void }, token: string): Promise<Bed> {
  const bed = createBed(reach({ port: now().proxy.port, certificatesDir: now().plane.certificatesDir, token }), {
    cache: { timings },
  });
  t.after(() => bed.close());
  return bed;
}

describe('degraded start', () => {
  test('RB-02: a kind that is not served keeps its controller waiting, visibly, until it is; the other works', async (t) => {
    const gadgets = widgetKind('gadgets');
    const manager = createManagerOn(now().bed);
    t.after(() => manager.stop());
    manager.addController(widgetController({ kind: widgets, namespace: now().namespace }));
    manager.addController(
      widgetController({ kind: gadgets, namespace: now().namespace, name: 'gadget', fieldManager: 'gadget-test' }),
    );
    await manager.start();
    await eventually(() => manager.health().controllers[0]?.state === 'running');
    const [, waiting] = manager.health().controllers;
    assert.equal(waiting?.state, 'waiting');
    assert.match(waiting?.reason ?? '', /gadget-gadgets: .*404/);
    assert.ok(manager.health().isReady, 'one feature that cannot work does not take the process out of service');
    assert.equal(await metric(now().bed, 'controller_running{controller="gadget"}'), 0);

    await installWidgets(now().direct.client, gadgets);
    await eventually(() => manager.health().controllers[1]?.state === 'running');
    assert.equal(await metric(now().bed, 'controller_running{controller="gadget"}'), 1);
    await put('t');
    await now().direct.client.create(gadgets, widget(gadgets, now().namespace, 'g', { target: 't', color: 'red' }));
    await eventually(async () => {
      const { metadata } = await now().direct.client.get(configMaps, { namespace: now().namespace, name: 't' });
      assert.equal(metadata.labels?.['color'], 'red');
    });
  });

  test('RB-02: a missing right degrades one watch, names itself, and the watch starts when the right is given', async (t) => {
    const token = await makeServiceAccount(now().direct.client, now().namespace, 'op');
    const account = `${now().namespace}/op`;
    await grant(now().direct.client, account, {
      name: account.replace('/', '-'),
      rules: [everything('', 'configmaps')],
    });
    const bed = await bedOf(t, token);
    const cache = bed.newCache();
    const maps = { id: 'maps', kind: configMaps };
    const forbidden = { id: 'widgets', kind: widgets };
    cache.start(forbidden);
    await cache.synced(maps);
    await eventually(() => assert.equal(cache.state(forbidden).phase, 'unavailable'));
    assert.match(cache.state(forbidden).reason ?? '', /403.*cannot (list|watch) resource "widgets"/);
    assert.throws(() => cache.list(forbidden), { code: 'NOT_SYNCED' });
    assert.ok(
      bed.log.lines.filter(({ level, message }) => level === 'warn' && message === 'watch does not work').length <= 2,
    );
    await grant(now().direct.client, account, { name: 'widgets', rules: [everything('engine.example', 'widgets')] });
    await cache.synced(forbidden);
    assert.equal(cache.state(forbidden).phase, 'synced');
  });

  test('RB-01: in namespaced mode no request leaves the watched namespaces, and one that does not exist yet is fine', async (t) => {
    const { client } = now().direct;
    const [one, two, later, foreign] = ['one', 'two', 'later', 'foreign'].map((name) => `${now().namespace}-${name}`);
    assert.ok(one !== undefined && two !== undefined && later !== undefined && foreign !== undefined);
    for (const namespace of [one, two, foreign]) await makeNamespace(client, namespace);
    const token = await makeServiceAccount(client, one, 'op');
    const rules = [everything('', 'configmaps'), everything('engine.example', 'widgets', 'widgets/status')];
    for (const namespace of [one, two]) await grant(client, `${one}/op`, { namespace, name: 'op', rules });
    const bed = await bedOf(t, token);
    now().proxy.requests.length = 0;
    const manager = createManagerOn(bed, { cacheOptions: { namespaces: [one, two, later, one] } });
    t.after(() => manager.stop());
    const colors: string[] = [];
    manager.addController(
      widgetController({
        kind: widgets,
        onObserve: ({ metadata, spec }) => void colors.push(`${metadata.namespace} ${spec.color}`),
      }),
    );
    await manager.start();
    await eventually(() => manager.health().controllers[0]?.state === 'running');
    const make = (namespace: string) =>
      client.create(widgets, widget(widgets, namespace, 'w', { target: 't', color: 'red' }));
    const isDone = async (namespace: string) =>
      assert.equal((await client.get(widgets, { namespace, name: 'w' })).status?.conditions[0]?.status, 'False');
    for (const namespace of [one, two, foreign]) await make(namespace);
    for (const namespace of [one, two]) await eventually(() => isDone(namespace));
    await makeNamespace(client, later);
    await grant(client, `${one}/op`, { namespace: later, name: 'op', rules });
    await make(later);
    await eventually(() => isDone(later));
    const ours = now().proxy.requests.filter(({ userAgent }) => userAgent === 'engine-test');
    const outside = ours.filter(
      ({ url }) => ![one, two, later].some((namespace) => url.includes(`/namespaces/${namespace}/`)),
    );
    assert.deepEqual(
      outside.map(({ url }) => url),
      [],
    );
    assert.ok(colors.every((color) => !color.startsWith(foreign)));
  });

  test('an API server that is restarted, as an account with few rights sees it: everything is back within seconds', async (t) => {
    const { client } = now().direct;
    const token = await makeServiceAccount(client, now().namespace, 'op');
    const rules = [everything('', 'configmaps', 'secrets'), everything('engine.example', 'widgets')];
    await grant(client, `${now().namespace}/op`, { name: `restart-${now().namespace}`, rules });
    const bed = await bedOf(t, token);
    const cache = bed.newCache({ timings: {} });
    const secrets = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
    const maps = { id: 'maps', kind: configMaps };
    const watches = [maps, { id: 'widgets', kind: widgets }, { id: 'secrets', kind: secrets }];
    await Promise.all(watches.map((watch) => cache.synced(watch)));
    await now().plane.restartApiServer();
    const begun = performance.now();
    await put('after');
    await eventually(() => {
      assert.ok(cache.states().every(({ phase, reason }) => phase === 'synced' && reason === undefined));
      assert.ok(cache.get(maps, { namespace: now().namespace, name: 'after' }));
    });
    t.diagnostic(`back after ${Math.round(performance.now() - begun)} ms`);
  });
});
