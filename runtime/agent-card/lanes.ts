/** Places for requests under way: most of them for agents that answer quickly, by turns of their namespaces; a quarter for those that do not. */

/** `silent`: has not answered the last time, or has not shown yet that it does. */
export type Lane = 'quick' | 'slow' | 'silent';

export interface Lanes {
  /** Waits for a place in the lane, behind those that came before of its `namespace`; `begin` is called when it has one. */
  enter(id: string, lane: Lane, namespace: string): void;
  /** From a quick place to a slow one, while there is one and nobody waits for it. False: it could not. */
  move(id: string): boolean;
  /** Waits no more, and frees the place it has. */
  leave(id: string): void;
  /** Whether it has a place or waits for one. */
  has(id: string): boolean;
  clear(): void;
  /** `slow`: those that are silent, too. */
  readonly counts: Readonly<Record<'quick' | 'slow', { readonly asking: number; readonly waiting: number }>>;
}

interface Track {
  readonly places: number;
  readonly asking: Set<string>;
  /** By line, that whose turn it is first; in each in the order they came. None is empty. */
  readonly waiting: Map<string, Set<string>>;
}

/**
 * `limit`: places in all, at least 2. `begin` must not throw. Slow and silent ones share their places by turns, so that neither waits for more
 * than as many of the others as there are of its own, however many hang; and so do the quick ones of each namespace, however many of another
 * take all the time that is still quick.
 */
export function createLanes(limit: number, begin: (id: string) => void): Lanes {
  const slowPlaces = Math.max(1, Math.floor(limit / 4));
  const quick = track(Math.max(1, limit - slowPlaces));
  const slow = track(slowPlaces);
  const both = [quick, slow];
  const has = (id: string): boolean => both.some((one) => one.asking.has(id) || isWaiting(one, id));

  function fill({ places, asking, waiting }: Track): void {
    for (let next = nextOf(waiting); next !== undefined && asking.size < places; next = nextOf(waiting)) {
      const { id, name, line } = next;
      line.delete(id);
      waiting.delete(name);
      if (line.size > 0) waiting.set(name, line);
      asking.add(id);
      begin(id);
    }
  }

  return {
    enter: (id, lane, namespace) => {
      if (has(id)) return;
      const [of, name] = lane === 'quick' ? [quick, namespace] : [slow, lane];
      const line = of.waiting.get(name) ?? new Set();
      of.waiting.set(name, line.add(id));
      fill(of);
    },
    move: (id) => {
      if (slow.asking.size >= slow.places || waitingIn(slow) > 0 || !quick.asking.delete(id)) return false;
      slow.asking.add(id);
      fill(quick);
      return true;
    },
    leave: (id) => {
      for (const { asking, waiting } of both) {
        asking.delete(id);
        for (const [name, line] of waiting) if (line.delete(id) && line.size === 0) waiting.delete(name);
      }
      both.forEach(fill);
    },
    has,
    clear: () => {
      for (const { asking, waiting } of both) {
        asking.clear();
        waiting.clear();
      }
    },
    get counts() {
      return { quick: countsOf(quick), slow: countsOf(slow) };
    },
  };
}

function track(places: number): Track {
  return { places, asking: new Set(), waiting: new Map() };
}

/** The first of the first line. */
function nextOf(waiting: Track['waiting']) {
  for (const [name, line] of waiting) for (const id of line) return { id, name, line };
  return undefined;
}

function isWaiting({ waiting }: Track, id: string): boolean {
  return [...waiting.values()].some((line) => line.has(id));
}

function waitingIn({ waiting }: Track): number {
  return [...waiting.values()].reduce((sum, { size }) => sum + size, 0);
}

function countsOf(of: Track) {
  return { asking: of.asking.size, waiting: waitingIn(of) };
}
