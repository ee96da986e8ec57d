/** Places for requests under way: most of them for agents that answer quickly, a quarter for those that do not. */

export type Lane = 'quick' | 'slow';

export interface Lanes {
  /** Waits for a place in the lane, behind those that came before; `begin` is called when it has one. */
  enter(id: string, lane: Lane): void;
  /** From the quick lane into the slow one, while it has a place and nobody waits there. False: it could not. */
  move(id: string): boolean;
  /** Waits no more, and frees the place it has. */
  leave(id: string): void;
  /** Whether it has a place or waits for one. */
  has(id: string): boolean;
  clear(): void;
  readonly counts: Readonly<Record<Lane, { readonly asking: number; readonly waiting: number }>>;
}

interface Track {
  readonly places: number;
  readonly asking: Set<string>;
  /** In the order they came. */
  readonly waiting: Set<string>;
}

/** `limit`: places in all, at least 2. `begin` must not throw. */
export function createLanes(limit: number, begin: (id: string, lane: Lane) => void): Lanes {
  const slowPlaces = Math.max(1, Math.floor(limit / 4));
  const tracks: Readonly<Record<Lane, Track>> = {
    quick: track(Math.max(1, limit - slowPlaces)),
    slow: track(slowPlaces),
  };
  const all = Object.values(tracks);

  function fill(lane: Lane): void {
    const { places, asking, waiting } = tracks[lane];
    for (const id of waiting) {
      if (asking.size >= places) return;
      waiting.delete(id);
      asking.add(id);
      begin(id, lane);
    }
  }

  return {
    enter: (id, lane) => {
      if (all.some(({ asking, waiting }) => asking.has(id) || waiting.has(id))) return;
      tracks[lane].waiting.add(id);
      fill(lane);
    },
    move: (id) => {
      const { quick, slow } = tracks;
      if (slow.asking.size >= slow.places || slow.waiting.size > 0 || !quick.asking.delete(id)) return false;
      slow.asking.add(id);
      fill('quick');
      return true;
    },
    leave: (id) => {
      for (const { asking, waiting } of all) {
        asking.delete(id);
        waiting.delete(id);
      }
      fill('quick');
      fill('slow');
    },
    has: (id) => all.some(({ asking, waiting }) => asking.has(id) || waiting.has(id)),
    clear: () => {
      for (const { asking, waiting } of all) {
        asking.clear();
        waiting.clear();
      }
    },
    get counts() {
      return { quick: countsOf(tracks.quick), slow: countsOf(tracks.slow) };
    },
  };
}

function track(places: number): Track {
  return { places, asking: new Set(), waiting: new Set() };
}

function countsOf({ asking, waiting }: Track) {
  return { asking: asking.size, waiting: waiting.size };
}
