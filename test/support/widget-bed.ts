/** A control plane that serves widgets, and what tests of controllers do with them. */

import assert from 'node:assert/strict';
import type { Manager } from '../../runtime/engine/manager.ts';
import { configMaps, createManagerOn, eventually, metric } from './engine-bed.ts';
import { useWatchBed } from './watch-bed.ts';
import { installWidgets, type Widget, widget, widgetController, widgetKind } from './widget.ts';

type Options = Partial<Parameters<typeof widgetController>[0]>;

/** Registers the hooks of `useWatchBed`; everything is about the widgets of the test's own namespace. */
export function useWidgetBed(name: string) {
  const kind = widgetKind();
  const bed = useWatchBed(name, ({ client }) => installWidgets(client, kind));
  const { now } = bed;

  async function running(t: { after(fn: () => Promise<void>): void }, options: Options = {}): Promise<Manager> {
    const manager = createManagerOn(now().bed);
    manager.addController(widgetController({ kind, namespace: now().namespace, ...options }));
    t.after(() => manager.stop());
    await manager.start();
    await eventually(() => manager.health().controllers.every(({ state }) => state === 'running'));
    return manager;
  }

  const make = (name: string, target: string, color = 'red') =>
    now().direct.client.create(kind, widget(kind, now().namespace, name, { target, color }));
  const read = (name: string): Promise<Widget> => now().direct.client.get(kind, { namespace: now().namespace, name });
  const target = (name: string) => now().direct.client.get(configMaps, { namespace: now().namespace, name });
  const ready = async (name: string, status = 'True'): Promise<void> =>
    eventually(async () => assert.equal((await read(name)).status?.conditions[0]?.status, status));
  const writes = () =>
    now().proxy.requests.filter(({ method, url }) => method !== 'GET' && url.includes(`/${now().namespace}/`));
  const wake = (manager: Manager, name: string) => manager.wake('widget', { namespace: now().namespace, name });
  const passes = () => metric(now().bed, 'controller_runtime_reconcile_time_seconds_count{controller="widget"}');

  /** Resolves after `count` more passes. */
  async function pass(manager: Manager, name: string, count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      const done = await passes();
      wake(manager, name);
      await eventually(async () => (await passes()) > done);
    }
  }

  return { ...bed, kind, running, make, read, target, ready, writes, wake, passes, pass };
}
