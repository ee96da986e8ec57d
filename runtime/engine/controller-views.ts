/** The views a controller decides by: waiting until they are complete and new enough, and what is said meanwhile. */

import type { Cache } from './cache.ts';
import type { Controller, Watch } from './types.ts';

export interface ControllerViews {
  /** Of the controller, each once. */
  readonly watches: readonly Watch[];
  /**
   * Resolves when every watch has a complete view that was begun at `sinceMs` of the monotonic clock or later; an optional one may be refused
   * instead.
   */
  fresh(sinceMs: number): Promise<void>;
  /** Which watches have no complete view and why; undefined: all have one. */
  missing(): string | undefined;
  /** The same without the optional ones that are refused. */
  needed(): string | undefined;
  /** Which have none that was begun at `sinceMs` or later; undefined: all have one. */
  old(sinceMs: number): string | undefined;
  /** Whether one is refused that the controller does not go without. */
  readonly isRefused: boolean;
}

/** Asks the cache for nothing before `fresh`. */
export function controllerViews(controller: Controller, cache: Cache): ControllerViews {
  const { primary, reads = [], triggers } = controller;
  const watches = [...new Set<Watch>([primary, ...reads, ...triggers.map(({ watch }) => watch)])];
  const optional = new Set<Watch>(controller.optional);
  const isRefused = (watch: Watch): boolean => cache.state(watch).phase === 'unavailable';
  const missing = (these: readonly Watch[]): string | undefined => {
    const states = these.map((watch) => cache.state(watch)).filter(({ phase }) => phase !== 'synced');
    if (states.length === 0) return undefined;
    return states.map(({ id, reason }) => `watch ${id}: ${reason ?? 'its first list is not complete'}`).join('; ');
  };
  return {
    watches,
    fresh: async (sinceMs) => {
      const waits = watches.map((watch) => {
        const fresh = cache.fresh(watch, sinceMs);
        return optional.has(watch) ? freshOrRefused(watch, cache, fresh) : fresh;
      });
      await Promise.all(waits);
    },
    missing: () => missing(watches),
    needed: () => missing(watches.filter((watch) => !isRefused(watch) || !optional.has(watch))),
    old: (sinceMs) => {
      const old = watches.filter((watch) => !cache.isFresh(watch, sinceMs)).map((watch) => cache.state(watch));
      if (old.length === 0) return undefined;
      return old
        .map(({ id, reason }) => `watch ${id}: ${reason ?? 'its list since the lease is ours is not complete'}`)
        .join('; ');
    },
    get isRefused() {
      return watches.some((watch) => isRefused(watch) && !optional.has(watch));
    },
  };
}

function freshOrRefused(watch: Watch, cache: Cache, fresh: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = cache.onState(({ id, phase }) => {
      if (id === watch.id && phase === 'unavailable') end();
    });
    if (cache.state(watch).phase === 'unavailable') end();
    void fresh.then(end);
  });
}
