/** Places for requests under way: most of them for agents that answer quickly, a quarter for those that do not. */

/** `silent`: has not answered the last time, or has not shown yet that it does. */
export type Lane = 'quick' | 'slow' | 'silent';

export interface Lanes {
  /** Waits for a place in the lane, behind those that came before; `begin` is called when it has one. */
  enter(id: string, lane: Lane): void;
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
  /** By lane, that whose turn it is first; in each in the order they came. */
  readonly waiting: Map<Lane, Set<string>>;
}

/**
 * `limit`: places in all, at least 2. `begin` must not throw. Slow and silent ones share their places by turns, so that neither waits for more
 * than as many of the others as there are of its own, however many hang.
 */
export function createLanes(limit: number, begin: (id: string, lane: Lane) => void): Lanes {
  const slowPlaces = Math.max(1, Math.floor(limit / 4));
  const quick = track(Math.max(1, limit - slowPlaces), 'quick');
  const slow = track(slowPlaces, 'slow', 'silent');
  const both = [quick, slow];
  const has = (id: string): boolean => both.some((one) => one.asking.has(id) || isWaiting(one, id));

  function fill({ places, asking, waiting }: Track): void {
    for (let next = nextOf(waiting); next !== undefined && asking.size < places; next = nextOf(waiting)) {
      const { id, lane, line } = next;
      line.delete(id);
      waiting.delete(lane);
      waiting.set(lane, line);
      asking.add(id);
      begin(id, lane);
    }
  }

  return {
    enter: (id, lane) => {
      if (has(id)) return;
      const of = lane === 'quick' ? quick : slow;
      of.waiting.get(lane)?.add(id);
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
        for (const line of waiting.values()) line.delete(id);
      }
      both.forEach(fill);
    },
    has,
    clear: () => {
      for (const { asking, waiting } of both) {
        asking.clear();
        for (const line of waiting.values()) line.clear();
      }
    },
    get counts() {
      return { quick: countsOf(quick), slow: countsOf(slow) };
    },
  };
}

function track(places: number, ...lanes: readonly Lane[]): Track {
  return { places, asking: new Set(), waiting: new Map(lanes.map((lane) => [lane, new Set()])) };
}

/** The first of the first lane in which somebody waits. */
function nextOf(waiting: Track['waiting']) {
  for (const [lane, line] of waiting) for (const id of line) return { id, lane, line };
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
