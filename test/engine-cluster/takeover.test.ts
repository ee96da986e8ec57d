/** A new leader decides by what is so when the lease becomes its own, not by what a watch that lags has told it. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createLeaderElection } from '../../runtime/engine/leader.ts';
import type { Manager } from '../../runtime/engine/manager.ts';
import type { Controller, Watch } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import {
  type Bed,
  type ConfigMap,
  configMap,
  configMaps,
  createBed,
  createManagerOn,
  eventually,
  makeNamespace,
  portOf,
  reach,
} from '../support/engine-bed.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type HttpProxy, startHttpProxy } from '../support/http-proxy.ts';
import { installWidgets, widget, widgetController, widgetKind } from '../support/widget.ts';

const kind = widgetKind();
const timings = { backOff: { baseMs: 50, capMs: 400, jitter: 0.5 } };
/** The former leader renews so often that it never loses the lease, and whoever waits looks as often. */
const times = { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200 };
let plane: ControlPlane;
let front: HttpProxy;
let direct: Bed;
let namespace = '';
let count = 0;

before(async () => {
  plane = await startControlPlane({ name: 'takeover' });
  front = await startHttpProxy(plane, { dir: plane.certificatesDir, name: 'kube-apiserver' });
  direct = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }));
  await installWidgets(direct.client, kind);
});
after(async () => {
  await direct.close();
  await front.close();
  await plane.stop();
});
beforeEach(async () => {
  count += 1;
  namespace = await makeNamespace(direct.client, `takeover-${count}`);
  await direct.client.create(configMaps, configMap(namespace, 't'));
  await direct.client.create(kind, widget(kind, namespace, 'w', { target: 't', color: 'red' }));
  front.requests.length = 0;
});

/** A controller of nothing but what it reads. */
const idle: Controller = {
  name: 'idle',
  fieldManager: 'idle',
  primary: { id: 'idle-widgets', kind },
  triggers: [],
  wakeOn: 'any',
  observe: () => Promise.resolve({}),
  decide: () => ({}),
};

interface Scope {
  after(fn: () => Promise<void>): void;
}

const paint = (name: string) => widgetController({ kind, namespace, name, fieldManager: 'painter' });
const leads = (manager: Manager) => manager.health().lease.isHeld;
const runs = (manager: Manager) => manager.health().controllers.every(({ state }) => state === 'running');
const colorOf = async (): Promise<string | undefined> =>
  (await direct.client.get(configMaps, { namespace, name: 't' })).metadata.labels?.['color'];
const dye = (color: string) => direct.client.mergePatch({ kind, namespace, name: 'w' }, { spec: { color } });

/** A manager whose lease and writes go straight to the API server, and its watches through `cacheBed`. */
function replica(t: Scope, name: string, cacheBed: Bed, cache = cacheBed.newCache()): Manager {
  const lease = { namespace, name: 'lease' };
  const manager = createManagerOn(direct, {
    cache,
    election: (on) => createLeaderElection({ ...direct, lease, identity: name, ...times, ...on }),
  });
  t.after(() => manager.stop());
  return manager;
}

async function startLeader(t: Scope): Promise<Manager> {
  const manager = replica(t, 'former', direct);
  manager.addController(paint('former'));
  await manager.start();
  await eventually(async () => assert.equal(await colorOf(), 'red'));
  return manager;
}

/** The colors the target takes from now on. */
async function colorsOfTarget(): Promise<readonly string[]> {
  const cache = direct.newCache();
  const target: Watch<ConfigMap> = { id: 'target', kind: configMaps, namespace, name: 't' };
  await cache.synced(target);
  const colors: string[] = [];
  cache.subscribe(target, ({ now }) => {
    const color = now?.metadata.labels?.['color'] ?? '';
    if (color !== colors.at(-1)) colors.push(color);
  });
  return colors;
}

describe('a new leader whose cache is old', () => {
  test('one watch has fallen silent: what the former leader wrote meanwhile is not undone', async (t) => {
    const former = await startLeader(t);
    const proxy = await startFaultProxy(portOf(plane));
    // Without HTTP/2 each watch has a connection of its own, and nothing but the idle timer notices that one is dead.
    const bed = createBed(reach({ port: proxy.port, certificatesDir: plane.certificatesDir }), { allowH2: false });
    const cache = bed.newCache();
    const next = replica(t, 'next', bed, cache);
    t.after(() => proxy.close());
    t.after(() => bed.close());
    const controller = paint('next');
    next.addController(controller);
    await cache.synced(controller.primary);
    proxy.silence();
    await next.start();
    const colors = await colorsOfTarget();
    await dye('blue');
    await eventually(async () => assert.equal(await colorOf(), 'blue'));
    assert.equal(cache.list(controller.primary)[0]?.spec.color, 'red', 'the watch lags');
    await former.stop();
    await eventually(() => leads(next));
    await eventually(() => runs(next));
    await dye('green');
    await eventually(() => assert.equal(colors.at(-1), 'green'));
    assert.deepEqual(colors, ['red', 'blue', 'green']);
  });

  test('the connection of all its watches has fallen silent: it takes another at once', async (t) => {
    const former = await startLeader(t);
    const proxy = await startFaultProxy(portOf(plane));
    const bed = createBed(reach({ port: proxy.port, certificatesDir: plane.certificatesDir }));
    const next = replica(t, 'next', bed);
    t.after(() => proxy.close());
    t.after(() => bed.close());
    next.addController(paint('next'));
    await next.start();
    proxy.silence();
    await dye('blue');
    await eventually(async () => assert.equal(await colorOf(), 'blue'));
    await former.stop();
    await eventually(() => leads(next));
    const begun = performance.now();
    await eventually(() => runs(next));
    // Less than two HTTP/2 pings, after which it would have been noticed anyway.
    assert.ok(performance.now() - begun < 15_000);
    await dye('green');
    await eventually(async () => assert.equal(await colorOf(), 'green'));
  });

  test('a watch that cannot be read again keeps its own controllers waiting, and is read from meanwhile', async (t) => {
    const former = await startLeader(t);
    const bed = createBed(reach({ port: front.port, certificatesDir: plane.certificatesDir }), { cache: { timings } });
    t.after(() => bed.close());
    const cache = bed.newCache();
    const next = replica(t, 'next', bed, cache);
    const painter = paint('next');
    next.addController(painter);
    const plain: Watch<ConfigMap> = { id: 'plain', kind: configMaps, namespace, name: 't' };
    next.addController({ ...idle, primary: plain });
    await next.start();
    const end = front.rule(({ url }) => (url.includes(`/${kind.plural}`) ? { status: 503 } : undefined));
    t.after(() => Promise.resolve(end()));
    await former.stop();
    await eventually(() => next.health().controllers[1]?.state === 'running');
    const [waiting] = next.health().controllers;
    assert.equal(waiting?.state, 'waiting');
    assert.match(waiting.reason ?? '', /next-widgets/);
    assert.equal(cache.list(painter.primary).length, 1);
    end();
    await eventually(() => runs(next));
  });

  test('one namespace of an optional watch is refused: the others are read again first', async (t) => {
    const refused = await makeNamespace(direct.client, `${namespace}-refused`);
    const former = await startLeader(t);
    const bed = createBed(reach({ port: front.port, certificatesDir: plane.certificatesDir }), { cache: { timings } });
    t.after(() => bed.close());
    const next = replica(t, 'next', bed, bed.newCache({ namespaces: [namespace, refused] }));
    const maps: Watch = { id: 'optional', kind: configMaps, metadataOnly: true };
    next.addController({ ...idle, reads: [maps], optional: [maps] });
    const endRefusal = front.rule(({ url }) =>
      url.includes(`/${refused}/`) && url.includes('/configmaps') ? { status: 403 } : undefined,
    );
    t.after(() => Promise.resolve(endRefusal()));
    await next.start();
    assert.equal(next.health().controllers[0]?.state, 'standby');
    let asked = 0;
    const end = front.rule(({ url }) => {
      if (!url.includes(`/${namespace}/configmaps`)) return undefined;
      asked += 1;
      return { status: 503 };
    });
    t.after(() => Promise.resolve(end()));
    await former.stop();
    await eventually(() => asked > 1);
    assert.equal(next.health().controllers[0]?.state, 'waiting');
    end();
    await eventually(() => runs(next));
  });

  test('a hint that cannot be read again keeps nothing waiting', async (t) => {
    const former = await startLeader(t);
    const bed = createBed(reach({ port: front.port, certificatesDir: plane.certificatesDir }), { cache: { timings } });
    t.after(() => bed.close());
    const next = replica(t, 'next', bed);
    const maps: Watch = { id: 'hint', kind: configMaps, namespace, metadataOnly: true };
    next.addController({ ...idle, reads: [maps], hints: [maps] });
    await next.start();
    const end = front.rule(({ url }) => (url.includes('/configmaps') ? { status: 503 } : undefined));
    t.after(() => Promise.resolve(end()));
    await former.stop();
    await eventually(() => runs(next));
  });

  test('there is no lease, since somebody deleted it: what its holder wrote is not undone', async (t) => {
    const proxy = await startFaultProxy(portOf(plane));
    const bed = createBed(reach({ port: proxy.port, certificatesDir: plane.certificatesDir }), { allowH2: false });
    const cache = bed.newCache();
    const next = replica(t, 'next', bed, cache);
    t.after(() => proxy.close());
    t.after(() => bed.close());
    const painter = paint('next');
    next.addController(painter);
    await cache.synced(painter.primary);
    proxy.silence();
    await dye('blue');
    const colors = await colorsOfTarget();
    await next.start();
    await eventually(() => runs(next));
    await eventually(() => assert.equal(colors.at(-1), 'blue'));
    assert.deepEqual(colors, ['', 'blue']);
  });
});

describe('a view that must not be older', () => {
  for (const streamLists of [true, false]) {
    test(`lists ${streamLists ? 'streamed' : 'in pages'}: one more for each namespace, none where it is new enough`, async (t) => {
      const other = await makeNamespace(direct.client, `${namespace}-other`);
      const bed = createBed(reach({ port: front.port, certificatesDir: plane.certificatesDir }));
      t.after(() => bed.close());
      const cache = bed.newCache({ namespaces: [namespace, other], streamLists });
      const watch: Watch<ConfigMap> = { id: 'maps', kind: configMaps, metadataOnly: true };
      const views = () =>
        front.requests.filter(({ url }) => url.includes('/configmaps') && !url.includes('resourceVersion='));
      await cache.synced(watch);
      assert.equal(views().length, 2);
      const sinceMs = bed.clock.monotonicMs();
      assert.equal(cache.isFresh(watch, sinceMs), false);
      const twice = [cache.fresh(watch, sinceMs), cache.fresh(watch, sinceMs)];
      assert.equal(cache.list(watch, { namespace }).length > 0, true, 'it is read from meanwhile');
      await Promise.all(twice);
      await cache.fresh(watch, sinceMs);
      assert.equal(cache.isFresh(watch, sinceMs), true);
      const ofOther = views().filter(({ url }) => url.includes(`/${other}/`));
      assert.deepEqual([views().length, ofOther.length], [4, 2]);
      await direct.client.create(configMaps, configMap(other, 'later'));
      await eventually(() => cache.get(watch, { namespace: other, name: 'later' }) !== undefined);
    });
  }
});
