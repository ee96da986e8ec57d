/** One pass over one object: finalizer, observe, decide or release, execute. */

import type { Cache } from './cache.ts';
import { type Client, liveReader } from './client.ts';
import type { Clock } from './clock.ts';
import type { EventRecorder } from './events.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import { addFinalizer, type FinalizerScope, hasFinalizer, removeFinalizer } from './finalizer.ts';
import { keyOfText } from './paths.ts';
import { executePlan, type PlanScope } from './plan.ts';
import type { Controller, KubeObject, Plan } from './types.ts';

/** What a controller needs of the world. */
export interface ReconcileWorld {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly events: EventRecorder;
  /** Throws when nothing may be written any more (`Leadership.assertHeld`). */
  readonly guard: () => void;
  /** Whether everything is let go (`Manager.letGo`). Default: never. */
  readonly isLettingGo?: () => boolean;
}

/**
 * `done`: nothing more to do, look again after `afterMs` if given; `behind`: the cache does not show our last write yet, come back
 * shortly; `gone`: there is no such object.
 */
export type Outcome =
  | { readonly type: 'done'; readonly afterMs?: number | undefined }
  | { readonly type: 'behind' }
  | { readonly type: 'gone' };

export type Reconcile = (key: string, signal: AbortSignal) => Promise<Outcome>;

/** The passes of one controller. They share what they remember of their own writes. */
export function createReconcile(controller: Controller, world: ReconcileWorld): Reconcile {
  const expectations = createExpectations(world.cache, world.clock);
  return async (key, signal) => {
    const object = world.cache.get(controller.primary, keyOfText(key));
    if (object === undefined) {
      expectations.forget(key);
      return { type: 'gone' };
    }
    if (expectations.isBehind(key)) return { type: 'behind' };
    const pass = { controller, world, expectations, key, signal };
    if (world.isLettingGo?.() === true) return release(object, pass);
    return object.metadata.deletionTimestamp === undefined ? keep(object, pass) : release(object, pass);
  };
}

interface Pass {
  readonly controller: Controller;
  readonly world: ReconcileWorld;
  readonly expectations: Expectations;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** The object is here to stay. */
async function keep(found: KubeObject, pass: Pass): Promise<Outcome> {
  const { controller, world } = pass;
  const { finalizer } = controller;
  const object = finalizer === undefined ? found : await addFinalizer(found, finalizerScope(pass, finalizer));
  if (object !== found) wrote(object, object.metadata.resourceVersion, pass);
  const observed = await observe(object, pass);
  const now = world.clock.now();
  const plan = controller.decide(observed, now);
  await executePlan(plan, planScope(object, pass, { isRelease: false, now }));
  return { type: 'done', afterMs: plan.afterMs };
}

/** The object is being deleted, or everything is let go: what it brought about is undone, then the finalizer lets it go. */
async function release(object: KubeObject, pass: Pass): Promise<Outcome> {
  const { controller, world } = pass;
  const { finalizer } = controller;
  const isUnheld = finalizer === undefined || !hasFinalizer(object, finalizer);
  if (isUnheld && (finalizer !== undefined || world.isLettingGo?.() !== true)) return { type: 'done' };
  const observed = await observe(object, pass);
  const plan: Plan = controller.release?.(observed) ?? {};
  await executePlan(plan, planScope(object, pass, { isRelease: true, now: world.clock.now() }));
  if (finalizer === undefined) return { type: 'done' };
  const resourceVersion = await removeFinalizer(object, finalizerScope(pass, finalizer));
  if (resourceVersion !== undefined) wrote(object, resourceVersion, pass);
  return { type: 'done' };
}

/** An `observe` that does not heed its signal must not hold the worker. */
function observe(object: KubeObject, { controller, world, signal }: Pass): Promise<unknown> {
  const gathering = { reader: world.cache, live: liveReader(world.client, signal), signal };
  return unlessAborted(controller.observe(object, gathering), signal);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function finalizerScope({ controller, world, signal }: Pass, finalizer: string): FinalizerScope {
  const { client, guard } = world;
  return { client, kind: controller.primary.kind, finalizer, call: { guard, signal } };
}

function planScope(object: KubeObject, pass: Pass, how: Pick<PlanScope, 'isRelease' | 'now'>): PlanScope {
  const { controller, world, expectations, key, signal } = pass;
  return {
    ...how,
    client: world.client,
    cache: world.cache,
    events: world.events,
    guard: world.guard,
    fieldManager: controller.fieldManager,
    controller: controller.name,
    primary: { kind: controller.primary.kind, object },
    signal,
    onWritten: (write) => expectations.wrote(key, write),
  };
}

function wrote({ metadata }: KubeObject, resourceVersion: string | undefined, pass: Pass): void {
  const { namespace, name = '', uid } = metadata;
  const { kind } = pass.controller.primary;
  pass.expectations.wrote(pass.key, { kind, key: { namespace, name }, uid, resourceVersion });
}
