/** The views a controller decides by: waiting until they are complete and new enough, and what is said meanwhile. */

import type { Cache } from './cache.ts';
import type { Controller, Watch } from './types.ts';

export interface ControllerViews {
  /** Of the controller, each once. */
  readonly watches: readonly Watch[];
  /** Resolves when every watch has a complete view that was begun at `sinceMs` of the monotonic clock or later, or may be gone without. */
  fresh(sinceMs: number): Promise<void>;
  /** Which watches are not complete and why; undefined: all are. */
  missing(): string | undefined;
  /** The same of those it waits for. */
  needed(): string | undefined;
  /** Which have no view that was begun at `sinceMs` or later; undefined: all have one. */
  old(sinceMs: number): string | undefined;
  /** Whether one is refused that the controller does not go without. */
  readonly isRefused: boolean;
}

/** Asks the cache for nothing before `fresh`. */
export function controllerViews(controller: Controller, cache: Cache): ControllerViews {
  const { primary, reads = [], triggers } = controller;
  const watches = [...new Set<Watch>([primary, ...reads, ...triggers.map(({ watch }) => watch)])];
  const optional = new Set<Watch>(controller.optional);
  const hints = new Set<Watch>(controller.hints);
  /** One of several namespaces that is refused is no reason to begin without the others. */
  const isGoneWithout = (watch: Watch): boolean =>
    (optional.has(watch) && cache.isRefused(watch)) || (hints.has(watch) && cache.state(watch).reason !== undefined);
  const told = (these: readonly Watch[], otherwise: string): string | undefined => {
    if (these.length === 0) return undefined;
    const states = these.map((watch) => cache.state(watch));
    return states.map(({ id, reason }) => `watch ${id}: ${reason ?? otherwise}`).join('; ');
  };
  const incomplete = 'its first list is not complete';
  return {
    watches,
    fresh: async (sinceMs) => {
      await Promise.all(watches.map((watch) => freshOr(watch, { cache, sinceMs, isGoneWithout })));
    },
    missing: () =>
      told(
        watches.filter((watch) => cache.state(watch).phase !== 'synced'),
        incomplete,
      ),
    needed: () =>
      told(
        watches.filter((watch) => !cache.isFresh(watch, -Infinity) && !isGoneWithout(watch)),
        incomplete,
      ),
    old: (sinceMs) =>
      told(
        watches.filter((watch) => !cache.isFresh(watch, sinceMs)),
        'its list since the lease is ours is not complete',
      ),
    get isRefused() {
      return watches.some((watch) => cache.isRefused(watch) && !isGoneWithout(watch));
    },
  };
}

interface Waiting {
  readonly cache: Cache;
  readonly sinceMs: number;
  readonly isGoneWithout: (watch: Watch) => boolean;
}

function freshOr(watch: Watch, { cache, sinceMs, isGoneWithout }: Waiting): Promise<void> {
  const fresh = cache.fresh(watch, sinceMs);
  return new Promise((resolve) => {
    const end = (): void => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = cache.onState(({ id }) => {
      if (id === watch.id && isGoneWithout(watch)) end();
    });
    if (isGoneWithout(watch)) end();
    void fresh.then(end);
  });
}
