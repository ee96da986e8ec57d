import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ConfigMap, configMaps, eventually, metric } from '../support/engine-bed.ts';
import { follow, useWatchBed } from '../support/watch-bed.ts';

const { now, watches, lists, put, watchOf, isWatch } = useWatchBed('watch');

describe('first view', () => {
  test('a list is read in pages of 500', async () => {
    await Promise.all(Array.from({ length: 1_050 }, (_, i) => put(`m${i}`)));
    const cache = now().bed.newCache({ streamLists: false });
    const watch = watchOf();
    await cache.synced(watch);
    assert.equal(cache.list(watch).length, 1_050);
    assert.equal(lists().length, 3);
    assert.ok(lists().every(({ url }) => url.includes('limit=500')));
    await eventually(() => assert.equal(watches().length, 1));
  });

  test('WT-02: a continuation that expired (410) is answered by one list without pages', async () => {
    await Promise.all(Array.from({ length: 501 }, (_, i) => put(`m${i}`)));
    const end = now().proxy.rule(({ url }) =>
      url.includes(now().namespace) && url.includes('continue=') ? { status: 410 } : undefined,
    );
    const cache = now().bed.newCache({ streamLists: false });
    const watch = watchOf();
    await cache.synced(watch);
    end();
    assert.equal(cache.list(watch).length, 501);
    assert.deepEqual(
      lists().map(({ url }) => /limit=500/.test(url)),
      [true, true, false],
    );
  });

  test('the API server streams the first view where it can: no list at all', async () => {
    await put('a');
    const cache = now().bed.newCache();
    await cache.synced(watchOf());
    assert.equal(lists().length, 0);
    assert.match(watches()[0]?.url ?? '', /sendInitialEvents=true.*resourceVersionMatch=NotOlderThan/);
  });

  test('a server that refuses to stream lists is asked once, then listed', async () => {
    await put('a');
    const end = now().proxy.rule(({ url }) => (url.includes('sendInitialEvents') ? { status: 422 } : undefined));
    const cache = now().bed.newCache();
    const watch = watchOf();
    await cache.synced(watch);
    const other = watchOf({ id: `${now().namespace}-2`, labels: 'x=y' });
    await cache.synced(other);
    end();
    assert.equal(cache.list(watch).length, 1);
    assert.equal(watches().filter(({ url }) => url.includes('sendInitialEvents')).length, 1);
  });

  test('an empty collection is synced; a watch that was never started, or is not complete, throws', async () => {
    const cache = now().bed.newCache();
    const watch = watchOf();
    assert.throws(() => cache.list(watch), { code: 'NOT_SYNCED' });
    cache.start(watch);
    assert.throws(() => cache.get(watch, { namespace: now().namespace, name: 'a' }), { code: 'NOT_SYNCED' });
    await cache.synced(watch);
    assert.deepEqual(cache.list(watch), []);
  });

  test('selectors, indexes, metadata alone, and what is kept', async () => {
    await put('a', { team: 'x' });
    await put('b', { team: 'y' });
    const cache = now().bed.newCache();
    const byTeam = watchOf({ indexes: { team: ({ data }) => [data?.['team'] ?? ''] } });
    const one = watchOf({ id: `${now().namespace}-one`, name: 'b' });
    const bare = watchOf({ id: `${now().namespace}-bare`, metadataOnly: true });
    const kept = watchOf({
      id: `${now().namespace}-kept`,
      keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
    });
    for (const watch of [byTeam, one, bare, kept]) await cache.synced(watch);
    const found = cache.list(byTeam, { namespace: now().namespace, index: { name: 'team', value: 'y' } });
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['b'],
    );
    assert.equal(cache.list(one).length, 1);
    const [first] = cache.list(bare);
    assert.equal(first?.kind, 'ConfigMap');
    assert.equal(first?.apiVersion, 'v1');
    assert.equal(first?.data, undefined);
    assert.equal(cache.list(kept)[0]?.data, undefined);
    assert.equal(cache.list(byTeam)[0]?.metadata.managedFields, undefined);
  });
});

describe('changes', () => {
  test('consumers of one constant share one request, each change reaches both, and one that throws hurts nobody', async () => {
    const cache = now().bed.newCache();
    const watch = watchOf();
    const first = await follow(cache, watch);
    cache.subscribe(watch, () => assert.fail('this consumer is broken'));
    const second = await follow(cache, watch);
    await put('a');
    await eventually(() => assert.deepEqual([first, second], [['add a'], ['add a']]));
    assert.equal(watches().length, 1);
    assert.ok(now().bed.log.lines.some(({ message }) => message === 'watch listener failed'));
  });

  test('WT-02: bookmarks move the version and never enter the cache', async () => {
    await put('a');
    const cache = now().bed.newCache();
    const watch = watchOf();
    const changes = await follow(cache, watch);
    const { metadata } = await put('marker-elsewhere');
    await eventually(() => changes.length === 1);
    await now().direct.client.remove({ kind: configMaps, namespace: now().namespace, name: 'marker-elsewhere' });
    await eventually(() => changes.length === 2);
    const version = String(Number(metadata.resourceVersion) + 1);
    const bookmark = {
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: version } },
    };
    assert.equal(now().proxy.injectLine(isWatch, JSON.stringify(bookmark)), 1);
    await put('b');
    await eventually(() => assert.deepEqual(changes.slice(2), ['add b']));
    assert.equal(cache.list(watch).length, 2);
  });

  test('a line that is no JSON is counted, the watch restarts, and nothing is lost', async () => {
    const cache = now().bed.newCache();
    const watch = watchOf();
    const changes = await follow(cache, watch);
    now().proxy.injectLine(isWatch, '{"type":"ADDED","obj');
    await put('a');
    await eventually(() => assert.deepEqual(changes, ['add a']));
    assert.equal(await metric(now().bed, `watch_restarts_total{watch="${watch.id}",cause="malformed"}`), 1);
  });

  test('an object that cannot be kept is left out and said so; the others are there', async () => {
    await put('bad');
    await put('good');
    const cache = now().bed.newCache();
    const keep = (object: ConfigMap): ConfigMap => {
      if (object.metadata.name === 'bad') throw new Error('odd');
      return object;
    };
    const watch = watchOf({ keep });
    await cache.synced(watch);
    assert.deepEqual(
      cache.list(watch).map(({ metadata }) => metadata.name),
      ['good'],
    );
    assert.ok(now().bed.log.lines.some(({ message }) => message === 'object cannot be cached'));
  });

  test('WT-01: the API server ends a watch in good order after its time; it goes on at once and nothing is lost', async () => {
    const cache = now().bed.newCache({ timings: { timeoutSeconds: [1, 2] } });
    const watch = watchOf();
    const changes = await follow(cache, watch);
    for (let i = 0; i < 20; i += 1) {
      await put(`m${i}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await eventually(() => assert.equal(changes.length, 20));
    assert.ok(watches().length >= 3 && watches().length <= 6, `${watches().length} watches in four seconds`);
    assert.ok(
      watches()
        .slice(1)
        .every(({ url }) => /resourceVersion=\d+/.test(url)),
    );
    assert.doesNotMatch(await now().bed.metrics.text(), new RegExp(`watch_restarts_total{watch="${watch.id}"`));
  });
});
