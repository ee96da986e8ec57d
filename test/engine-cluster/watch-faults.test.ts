import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, configMaps, eventually, metric } from '../support/engine-bed.ts';
import { follow, useWatchBed } from '../support/watch-bed.ts';

const { now, watches, put, drop, watchOf, isWatch } = useWatchBed('watch-faults');

/** Changes that happen while the watch is down: a vanishes, b changes, c appears, d is replaced by a namesake, e stays. */
async function changeWhileDown(restore: () => void): Promise<void> {
  await drop('a');
  await put('b', { changed: 'yes' });
  await put('c');
  await drop('d');
  await put('d');
  restore();
}

const expected = ['add c', 'add d', 'delete a', 'delete d', 'update b'];

describe('WT-02: an expired version', () => {
  for (const [form, streamLists] of [
    ['HTTP 410', true],
    ['HTTP 410', false],
    ['ERROR event', true],
    ['ERROR event', false],
  ] as const) {
    test(`${form}, lists ${streamLists ? 'streamed' : 'in pages'}: deletes, changes and appearances exactly once`, async () => {
      for (const name of ['a', 'b', 'd', 'e']) await put(name);
      const cache = now().bed.newCache({ streamLists });
      const watch = watchOf();
      const changes = await follow(cache, watch);
      let isDown = true;
      const gone = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Expired',
        code: 410,
        message: 'too old',
      };
      const end = now().proxy.rule((request) => {
        if (!isWatch(request) || !/resourceVersion=\d/.test(request.url)) return undefined;
        if (isDown) return { status: 503 };
        end();
        return form === 'HTTP 410'
          ? { status: 410, body: gone }
          : { status: 200, body: `${JSON.stringify({ type: 'ERROR', object: gone })}\n` };
      });
      now().proxy.dropConnections();
      await changeWhileDown(() => (isDown = false));
      await eventually(() => assert.deepEqual(changes.toSorted(), expected));
      assert.ok(changes.indexOf('delete d') < changes.indexOf('add d'));
      await put('f');
      await eventually(() => assert.equal(changes.at(-1), 'add f'));
      assert.equal(changes.length, expected.length + 1);
      assert.equal(await metric(now().bed, `watch_restarts_total{watch="${watch.id}",cause="expired"}`), 1);
    });
  }

  test('410 again and again does not become a loop of lists', async () => {
    const cache = now().bed.newCache({ streamLists: false });
    const watch = watchOf();
    await cache.synced(watch);
    const end = now().proxy.rule((request) => (isWatch(request) ? { status: 410 } : undefined));
    now().proxy.dropConnections();
    now().proxy.requests.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    end();
    // 50 ms doubling to 400, half of it random: fifteen at most, each one list and one watch.
    assert.ok(now().proxy.requests.length <= 30, `${now().proxy.requests.length} requests in two seconds`);
  });
});

describe('a busy server', () => {
  test('429 with Retry-After is honoured by watches', async () => {
    const cache = now().bed.newCache({ streamLists: false });
    const watch = watchOf();
    const changes = await follow(cache, watch);
    let isBusy = true;
    const end = now().proxy.rule((request) => {
      if (!isWatch(request) || !isBusy) return undefined;
      isBusy = false;
      return { status: 429, headers: { 'retry-after': '1' } };
    });
    now().proxy.dropConnections();
    await put('a');
    await eventually(() => assert.deepEqual(changes, ['add a']));
    end();
    const [refused, accepted] = watches().slice(-2);
    const waited = (accepted?.atMs ?? 0) - (refused?.atMs ?? 0);
    assert.ok(waited >= 1_000 && waited < 8_000, `came back after ${waited} ms`);
  });

  test('429 and 503 with Retry-After are repeated for reads and writes, a bounded number of times', async () => {
    let refusals = 2;
    const end = now().proxy.rule(({ url }) => {
      if (!url.includes(`${now().namespace}/configmaps/busy`) || refusals <= 0) return undefined;
      refusals -= 1;
      return { status: refusals === 1 ? 429 : 503, headers: { 'retry-after': '0' } };
    });
    const body = configMap(now().namespace, 'busy');
    await now().bed.client.apply({ kind: configMaps, body }, { fieldManager: 'test' });
    refusals = 99;
    await assert.rejects(now().bed.client.get(configMaps, { namespace: now().namespace, name: 'busy' }), {
      code: 'API_ERROR',
      status: 503,
    });
    end();
    assert.equal(refusals, 95);
  });

  test('a read is repeated after 500 and after a broken connection; a write is not', async () => {
    await put('a');
    let failures = 1;
    const end = now().proxy.rule(({ url, method }) => {
      if (!url.includes(`${now().namespace}/configmaps/a`) || failures <= 0) return undefined;
      failures -= 1;
      if (method === 'GET') now().proxy.dropConnections();
      return { status: 500 };
    });
    assert.equal(
      (await now().bed.client.get(configMaps, { namespace: now().namespace, name: 'a' })).metadata.name,
      'a',
    );
    failures = 1;
    const write = now().bed.client.mergePatch(
      { kind: configMaps, namespace: now().namespace, name: 'a' },
      { data: { x: '1' } },
    );
    await assert.rejects(write, { code: 'API_ERROR', status: 500 });
    end();
  });
});
