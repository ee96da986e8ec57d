/** Many deadlines under one timer: a binary heap that knows where each of its members is. */

/** The clocks and the one timer that is needed; the engine's clock is one. */
export interface Timekeeper {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds since some start; never goes back. */
  monotonicMs(): number;
  /** Calls `fn` once after `ms` milliseconds; returns its own cancel. */
  after(ms: number, fn: () => void): () => void;
}

export interface Alarms {
  /** At this time of the monotonic clock; another one set before for `id` is forgotten. */
  set(id: string, atMs: number): void;
  cancel(id: string): void;
  /** When `id` is due; undefined: it is not set. */
  at(id: string): number | undefined;
  clear(): void;
  readonly size: number;
}

interface Deadline {
  readonly id: string;
  readonly atMs: number;
}

/** `ring` is called for each id that is due, the earliest first; the id is then not set any more. */
export function createAlarms(time: Timekeeper, ring: (id: string) => void): Alarms {
  const heap: Deadline[] = [];
  const places = new Map<string, number>();
  let armed: { readonly atMs: number; readonly cancel: () => void } | undefined;

  function put(place: number, deadline: Deadline): void {
    heap[place] = deadline;
    places.set(deadline.id, place);
  }

  /** Moves `deadline`, for which `place` is free, to where it belongs: towards the top, else towards the leaves. */
  function sift(place: number, deadline: Deadline): void {
    const above = (place - 1) >> 1;
    const parent = place === 0 ? undefined : heap[above];
    if (parent !== undefined && deadline.atMs < parent.atMs) {
      put(place, parent);
      return sift(above, deadline);
    }
    const [below, child] = earlierChild(place);
    if (child === undefined || child.atMs >= deadline.atMs) return put(place, deadline);
    put(place, child);
    return sift(below, deadline);
  }

  function earlierChild(place: number): readonly [number, Deadline | undefined] {
    const left = 2 * place + 1;
    const [a, b] = [heap[left], heap[left + 1]];
    return b !== undefined && a !== undefined && b.atMs < a.atMs ? [left + 1, b] : [left, a];
  }

  function remove(id: string): void {
    const place = places.get(id);
    const last = heap.at(-1);
    if (place === undefined || last === undefined) return;
    places.delete(id);
    heap.pop();
    if (last.id !== id) sift(place, last);
  }

  function arm(): void {
    const atMs = heap[0]?.atMs;
    if (armed?.atMs === atMs) return;
    armed?.cancel();
    armed =
      atMs === undefined ? undefined : { atMs, cancel: time.after(Math.max(0, atMs - time.monotonicMs()), ringDue) };
  }

  function ringDue(): void {
    armed = undefined;
    for (let first = heap[0]; first !== undefined && first.atMs <= time.monotonicMs(); first = heap[0]) {
      remove(first.id);
      ring(first.id);
    }
    arm();
  }

  return {
    set: (id, atMs) => {
      remove(id);
      heap.push({ id, atMs });
      sift(heap.length - 1, { id, atMs });
      arm();
    },
    cancel: (id) => {
      remove(id);
      arm();
    },
    at: (id) => heap[places.get(id) ?? -1]?.atMs,
    clear: () => {
      heap.length = 0;
      places.clear();
      arm();
    },
    get size() {
      return heap.length;
    },
  };
}
