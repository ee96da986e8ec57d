import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { createBed, createManagerOn, eventually, reach } from '../support/engine-bed.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { useWidgetBed } from '../support/widget-bed.ts';
import { widgetController } from '../support/widget.ts';

const { now, put, kind, running, make, ready, writes, wake, passes, pass } = useWidgetBed('load');

describe('a controller under load', () => {
  test('OB-02: a notice in each of a hundred passes is one event', async (t) => {
    await put('t');
    const notice = { type: 'Normal', reason: 'Painted', action: 'Paint', note: 'x'.repeat(2_000) } as const;
    const manager = await running(t, { plan: () => ({ notices: [notice] }) });
    await make('w', 't');
    await ready('w');
    for (let i = 0; i < 100; i += 1) wake(manager, 'w');
    await pass(manager, 'w', 20);
    const eventKind: Kind<KubeObject & { readonly note?: string; readonly regarding?: { readonly name: string } }> = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      plural: 'events',
      namespaced: true,
    };
    await eventually(async () => {
      const { items } = await now().direct.client.list(eventKind, { namespace: now().namespace });
      assert.equal(items.length, 1);
      assert.equal(items[0]?.regarding?.name, 'w');
    });
    assert.ok(writes().filter(({ url }) => url.includes('/events')).length <= 2);
  });

  test('RC-06: a pass that still sees the state before its own writes waits for the cache and repeats nothing', async (t) => {
    await put('t');
    const lag = await startFaultProxy(now().proxy.port);
    const { certificatesDir } = now().plane;
    const slow = createBed(reach({ port: lag.port, certificatesDir }), { userAgent: 'slow-cache' });
    const manager = createManagerOn(now().bed, { cache: slow.newCache() });
    manager.addController(widgetController({ kind, namespace: now().namespace }));
    t.after(async () => {
      await manager.stop();
      await slow.close();
      await lag.close();
    });
    await manager.start();
    await make('w', 't');
    await eventually(() => writes().length > 0);
    lag.set({ mode: 'slow', bytesPerSecond: 800 });
    const before = await passes();
    for (let i = 0; i < 40; i += 1) {
      wake(manager, 'w');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    lag.set({ mode: 'pass' });
    await ready('w');
    assert.ok((await passes()) - before > 20, 'it was woken many times meanwhile');
    assert.equal(writes().length, 3);
  });

  test('a pass that hangs is given up at its deadline, its signal aborted, and tried again', async (t) => {
    await put('t');
    const { promise, resolve } = Promise.withResolvers<void>();
    let passesBegun = 0;
    const manager = createManagerOn(now().bed, { reconcileMs: 300 });
    manager.addController(
      widgetController({
        kind,
        namespace: now().namespace,
        onObserve: () => {
          passesBegun += 1;
          return passesBegun === 1 ? promise : undefined;
        },
      }),
    );
    t.after(() => manager.stop());
    await manager.start();
    await make('w', 't');
    await ready('w');
    assert.ok(passesBegun > 1);
    const line = now().bed.log.lines.find(({ fields }) => fields['key'] === `${now().namespace}/w`);
    assert.match(String(line?.fields['reason']), /not finished within 300 ms/);
    resolve();
  });

  test('a stop lets the pass under way finish and begins no other; one that hangs is cut off', async (t) => {
    await put('t');
    let begun = 0;
    const slow = () => {
      begun += 1;
      return new Promise<void>((resolve) => setTimeout(resolve, 500));
    };
    const first = await running(t, { onObserve: slow });
    await make('w', 't');
    await eventually(() => begun === 1);
    wake(first, 'w');
    await first.stop();
    await ready('w');
    assert.equal(begun, 1);
    const second = createManagerOn(now().bed, { drainMs: 200 });
    let isHanging = false;
    const hang = () => {
      isHanging = true;
      return new Promise<void>(() => {});
    };
    second.addController(widgetController({ kind, namespace: now().namespace, onObserve: hang }));
    await second.start();
    await eventually(() => isHanging);
    const stopping = performance.now();
    await second.stop();
    assert.ok(performance.now() - stopping < 5_000);
  });

  test('three hundred at once are all done, four at a time, each with three requests', async (t) => {
    await put('t');
    let active = 0;
    let most = 0;
    await running(t, {
      onObserve: async () => {
        most = Math.max(most, (active += 1));
        await new Promise((resolve) => setTimeout(resolve, 1));
        active -= 1;
      },
      plan: () => ({ apply: [] }),
    });
    await Promise.all(Array.from({ length: 300 }, (_, i) => make(`w${i}`, 't')));
    const all = () => now().direct.client.list(kind, { namespace: now().namespace });
    await eventually(
      async () => assert.ok((await all()).items.every(({ status }) => status?.conditions[0]?.status === 'True')),
      60_000,
    );
    assert.equal(most, 4);
    assert.equal(writes().length, 600);
  });
});
