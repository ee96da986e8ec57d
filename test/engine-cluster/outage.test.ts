import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../runtime/engine/kubeconfig.ts';
import type { Watch } from '../../runtime/engine/types.ts';
import { writeCertificates } from '../lab/certificates.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import {
  type Bed,
  type BedOptions,
  type ConfigMap,
  configMap,
  configMaps,
  createBed,
  eventually,
  metric,
  portOf,
  reach,
} from '../support/engine-bed.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startHttpProxy } from '../support/http-proxy.ts';
import { follow } from '../support/watch-bed.ts';

let plane: ControlPlane;
let proxy: FaultProxy;
let direct: Bed;
const beds: Bed[] = [];
let count = 0;

before(async () => {
  plane = await startControlPlane({ name: 'outage' });
  proxy = await startFaultProxy(portOf(plane));
  direct = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }));
});
after(async () => {
  await direct.close();
  await proxy.close();
  await plane.stop();
});
afterEach(async () => {
  proxy.set({ mode: 'pass' });
  for (const bed of beds.splice(0)) await bed.close();
});

function bedThrough(connection: Connection, options: BedOptions = {}): Bed {
  const bed = createBed(connection, options);
  beds.push(bed);
  return bed;
}
const throughProxy = (options: BedOptions = {}): Bed =>
  bedThrough(reach({ port: proxy.port, certificatesDir: plane.certificatesDir }), options);
const put = (name: string) =>
  direct.client.apply({ kind: configMaps, body: configMap('default', name) }, { fieldManager: 'test' });
function freshWatch(): { readonly watch: Watch<ConfigMap>; readonly name: string } {
  count += 1;
  const name = `outage-${count}`;
  return { name, watch: { id: name, kind: configMaps, namespace: 'default', name } };
}

const backOff = { baseMs: 50, capMs: 400, jitter: 0.5 };

describe('WT-01: a connection that dies without a word', () => {
  test('is noticed by HTTP/2 ping within two intervals', async () => {
    const bed = throughProxy({ pingMs: 300, cache: { timings: { backOff } } });
    const { watch, name } = freshWatch();
    const changes = await follow(bed.newCache(), watch);
    proxy.silence();
    await put(name);
    const begun = performance.now();
    await eventually(() => assert.deepEqual(changes, [`add ${name}`]));
    assert.ok(performance.now() - begun < 8_000);
  });

  test('a session that has ended is not used again, though its socket cannot close', async (t) => {
    const sessions = new Set<ClientHttp2Session>();
    const onCreated = (message: unknown): void => {
      const { session } = (message as { readonly stream: ClientHttp2Stream }).stream;
      if (session !== undefined) sessions.add(session as ClientHttp2Session);
    };
    subscribe('http2.client.stream.created', onCreated);
    t.after(() => unsubscribe('http2.client.stream.created', onCreated));
    const bed = throughProxy();
    const name = 'outage-ended';
    await bed.client.create(configMaps, configMap('default', name));
    proxy.silence();
    // As after a GOAWAY without an error, amid a network that has gone silent.
    for (const session of sessions) {
      session.close();
      session.destroy();
    }
    await bed.client.apply({ kind: configMaps, body: configMap('default', name) }, { fieldManager: 'test' });
    assert.equal((await bed.client.get(configMaps, { namespace: 'default', name })).metadata.name, name);
  });

  test('is noticed by the idle timer where there is no ping', async () => {
    const bed = throughProxy({ allowH2: false, cache: { timings: { backOff, idleMs: 1_000 } } });
    const { watch, name } = freshWatch();
    const changes = await follow(bed.newCache(), watch);
    proxy.silence();
    await put(name);
    const begun = performance.now();
    await eventually(() => assert.deepEqual(changes, [`add ${name}`]));
    assert.ok(performance.now() - begun < 8_000);
  });

  test('fails a request at its deadline, and the next request takes another connection', async () => {
    const bed = throughProxy();
    await bed.client.list(configMaps, { namespace: 'default' });
    proxy.silence();
    const get = bed.client.get(configMaps, { namespace: 'default', name: 'x' }, { deadlineMs: 500 });
    await assert.rejects(get, { code: 'API_UNREACHABLE' });
    await bed.client.list(configMaps, { namespace: 'default', deadlineMs: 2_000 });
  });

  test('a reset ends nothing but the connection: the change made meanwhile arrives', async () => {
    const bed = throughProxy({ cache: { timings: { backOff } } });
    const { watch, name } = freshWatch();
    const changes = await follow(bed.newCache(), watch);
    for (let round = 0; round < 5; round += 1) {
      proxy.reset();
      await sleep(50);
    }
    await put(name);
    await eventually(() => assert.deepEqual(changes, [`add ${name}`]));
  });

  test('the caller can end a request, and gets its own reason', async () => {
    const bed = throughProxy();
    proxy.set({ mode: 'black-hole' });
    const get = bed.client.get(
      configMaps,
      { namespace: 'default', name: 'x' },
      { signal: AbortSignal.abort(new Error('mine')) },
    );
    await assert.rejects(get, { message: 'mine' });
  });
});

describe('a slow or changing server', () => {
  test('a first view that trickles in is complete in the end, and a watch that trickles is not taken for dead', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => put(`slow-${i}`)));
    const bed = throughProxy({ cache: { timings: { idleMs: 1_000 } } });
    proxy.set({ mode: 'slow', bytesPerSecond: 20_000 });
    const cache = bed.newCache();
    const watch: Watch<ConfigMap> = { id: 'slow', kind: configMaps, namespace: 'default' };
    await cache.synced(watch);
    assert.ok(cache.list(watch).length >= 40);
  });

  test('rotated certificates, another authority included, are taken up by new connections', async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'rotation-'));
    const [old, next, client] = ['old', 'next', 'client'].map((name) => path.join(dir, name));
    assert.ok(old !== undefined && next !== undefined && client !== undefined);
    await writeCertificates(old, { apiServerHosts: ['127.0.0.1'] });
    await writeCertificates(next, { apiServerHosts: ['127.0.0.1'] });
    cpSync(old, client, { recursive: true });
    const front = await startHttpProxy(plane, { dir: old, name: 'kube-apiserver' });
    try {
      const bed = bedThrough(reach({ port: front.port, certificatesDir: client }), { cache: { timings: { backOff } } });
      const { watch, name } = freshWatch();
      const changes = await follow(bed.newCache(), watch);
      front.useCertificate({ dir: next, name: 'kube-apiserver' });
      front.dropConnections();
      await put(name);
      await sleep(500);
      assert.deepEqual(changes, [], 'the new authority is not trusted yet');
      cpSync(next, client, { recursive: true });
      await eventually(() => assert.deepEqual(changes, [`add ${name}`]));
      await bed.close();
    } finally {
      await front.close();
      rmSync(dir, { recursive: true });
    }
  });

  test('a 401 is answered once with fresh credentials', async () => {
    const front = await startHttpProxy(plane, { dir: plane.certificatesDir, name: 'kube-apiserver' });
    try {
      let refreshed = 0;
      const connection = {
        ...reach({ port: front.port, certificatesDir: plane.certificatesDir }),
        refresh: () => (refreshed += 1),
      };
      const bed = bedThrough({ ...connection, refresh: () => void connection.refresh() });
      const end = front.rule(() => (refreshed === 0 ? { status: 401 } : undefined));
      await bed.client.list(configMaps, { namespace: 'default' });
      end();
      front.rule(() => ({ status: 401 }));
      await assert.rejects(bed.client.list(configMaps, { namespace: 'default' }), { status: 401 });
      assert.equal(front.requests.length, 4);
      await bed.close();
    } finally {
      await front.close();
    }
  });
});

describe('WT-03: an outage', () => {
  test('20 s without an API server: few requests meanwhile, all seven watches back soon after, nothing lost', async () => {
    const bed = throughProxy();
    const cache = bed.newCache();
    const kinds = ['configmaps', 'secrets', 'services', 'pods', 'endpoints', 'events', 'serviceaccounts'];
    const watches = kinds.map((plural) => ({
      id: plural,
      kind: { apiVersion: 'v1', kind: plural, plural, namespaced: true },
    }));
    await Promise.all(watches.map((watch) => cache.synced(watch)));
    const before = proxy.connections;
    await plane.stopApiServer();
    await sleep(20_000);
    const attempts = proxy.connections - before;
    assert.ok(attempts > 0 && attempts <= 7 * 7, `${attempts} connections in 20 s`);
    assert.ok(
      cache.states().every(({ phase, reason }) => phase === 'synced' && reason !== undefined),
      'the state says that the view is not kept up',
    );
    assert.equal(await metric(bed, 'watch_synced{watch="pods"}'), 0);
    await plane.startApiServer();
    const back = performance.now();
    await put('after-outage');
    await eventually(() => {
      assert.deepEqual(
        cache.states().flatMap(({ id, reason }) => (reason === undefined ? [] : [`${id}: ${reason}`])),
        [],
      );
      assert.ok(cache.list(watches[0] ?? assert.fail()).some(({ metadata }) => metadata.name === 'after-outage'));
    });
    assert.ok(performance.now() - back < 30_000);
    assert.ok(proxy.connections - before <= 7 * 9, `${proxy.connections - before} connections in all`);
  });
});
