/** What a manager still holds when everything is let go, and kinds that come to be served while watches wait for them. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Controller, Watch } from '../../runtime/engine/types.ts';
import { configMaps, createManagerOn, eventually, metric } from '../support/engine-bed.ts';
import { useWatchBed } from '../support/watch-bed.ts';
import { finalizer, installWidgets, widget, widgetController, widgetKind } from '../support/widget.ts';

const widgets = widgetKind();
const { now } = useWatchBed('letting-go', ({ client }) => installWidgets(client, widgets));

interface Made {
  readonly controller: Partial<Controller>;
  readonly onObserve?: () => void;
  readonly namespaces?: readonly string[];
}

async function managerWith(t: { after(fn: () => Promise<void>): void }, { controller, onObserve, namespaces }: Made) {
  const { namespace, bed } = now();
  const manager = createManagerOn(bed, { cacheOptions: { namespaces } });
  t.after(() => manager.stop());
  const made = widgetController({ kind: widgets, namespace, ...(onObserve === undefined ? {} : { onObserve }) });
  manager.addController({ ...(made as Controller), ...controller });
  await manager.start();
  return manager;
}

const make = (finalizers: string[] = []) => {
  const { direct, namespace } = now();
  const object = widget(widgets, namespace, 'w', { target: 't', color: 'red' });
  return direct.client.create(widgets, { ...object, metadata: { ...object.metadata, finalizers } });
};

const isRunning = (manager: Awaited<ReturnType<typeof managerWith>>) => () =>
  assert.equal(manager.health().controllers[0]?.state, 'running');

describe('letting go', () => {
  test('what a controller holds that still waits is counted, since nobody lets go of it', async (t) => {
    await make([finalizer]);
    const missing: Watch = { id: 'missing', kind: widgetKind('absents') };
    const manager = await managerWith(t, { controller: { reads: [missing] } });
    await eventually(() => manager.health().watches.every(({ phase }) => phase !== 'waiting'));
    assert.equal(manager.health().controllers[0]?.state, 'waiting');
    assert.equal(await manager.letGo(300), 1);
  });

  test('so is what it holds where one namespace of two is refused', async (t) => {
    await make([finalizer]);
    const refused = `${now().namespace}-refused`;
    const end = now().proxy.rule(({ url }) => (url.includes(`/${refused}/`) ? { status: 403 } : undefined));
    t.after(() => Promise.resolve(end()));
    const primary: Watch = { id: 'in-both', kind: widgets };
    const missing: Watch = { id: 'missing', kind: widgetKind('absents') };
    const manager = await managerWith(t, {
      controller: { primary, triggers: [], reads: [missing] },
      namespaces: [now().namespace, refused],
    });
    await eventually(() => manager.health().watches.every(({ phase }) => phase !== 'waiting'));
    assert.equal(await manager.letGo(300), 1);
  });

  test('a controller without a finalizer is done when its keys are, not when they wait to be tried again', async (t) => {
    await make();
    let fails = true;
    const manager = await managerWith(t, {
      controller: { finalizer: undefined },
      onObserve: () => {
        if (fails) throw new Error('not yet');
      },
    });
    await eventually(isRunning(manager));
    assert.equal(await manager.letGo(400), 1);
    fails = false;
    assert.equal(await manager.letGo(10_000), 0);
  });

  test('with nothing to hold it is over at once, also where a kind is not served', async (t) => {
    const missing: Watch = { id: 'missing', kind: widgetKind('absents') };
    const manager = await managerWith(t, { controller: { reads: [missing] } });
    await eventually(() => manager.health().watches.every(({ phase }) => phase !== 'waiting'));
    assert.equal(await manager.letGo(10_000), 0);
  });
});

test('a watch that was refused asks again when it is told to, and soon again when it is refused once more', async () => {
  const { bed, direct } = now();
  const late = widgetKind('lates');
  const cache = bed.newCache({ timings: { backOff: { baseMs: 1_000, capMs: 600_000, jitter: 0 } } });
  const watch: Watch = { id: 'lates', kind: late };
  cache.start(watch);
  const refused = () => metric(bed, 'watch_restarts_total{watch="lates",cause="404"}');
  await eventually(async () => assert.equal(await refused(), 4));
  const begun = performance.now();
  cache.revive();
  await eventually(async () => assert.equal(await refused(), 5));
  await installWidgets(direct.client, late);
  cache.revive();
  await eventually(() => assert.equal(cache.state(watch).phase, 'synced'));
  const ms = performance.now() - begun;
  assert.ok(ms < 8_000, `${Math.round(ms)} ms, as if nobody had told it`);
});

test('a watch that is refused asks when another has been answered, and neither warns again nor asks more often for it', async () => {
  const { bed, namespace } = now();
  const timings = { backOff: { baseMs: 50, capMs: 600_000, jitter: 0 } };
  const cache = bed.newCache({ timings, random: () => 0 });
  cache.start({ id: 'nevers', kind: widgetKind('nevers') });
  const refused = () => metric(bed, 'watch_restarts_total{watch="nevers",cause="404"}');
  await eventually(async () => assert.ok((await refused()) >= 6));
  for (const id of ['one', 'two', 'three']) {
    const before = await refused();
    await cache.synced({ id, kind: configMaps, namespace });
    await eventually(async () => assert.ok((await refused()) > before));
  }
  const said = bed.log.lines.filter(({ fields }) => fields['watch'] === 'nevers');
  const failures = said.map(({ fields }) => fields['failures']);
  assert.deepEqual(
    failures,
    failures.map((_, index) => index + 1),
  );
  assert.deepEqual(
    said.filter(({ level }) => level === 'warn').map(({ fields }) => fields['failures']),
    [1, 3],
  );
});
