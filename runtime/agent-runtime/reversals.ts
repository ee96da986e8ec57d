/** Remembers how often another actor undid what we applied to a workload, and how long to hold back (GO-01). */

/** How patient we are. All in milliseconds. */
export interface ReversalLimits {
  /** So many reversals … */
  readonly count: number;
  /** … within this long are a fight. A fight is over after this long without one. */
  readonly windowMs: number;
  /** The first pause; each further reversal doubles it, up to `longestMs`. */
  readonly pauseMs: number;
  readonly longestMs: number;
}

export const reversalLimits: ReversalLimits = Object.freeze({
  count: 3,
  windowMs: 120_000,
  pauseMs: 10_000,
  longestMs: 300_000,
});

/** One look at a workload. `wanted` is everything we would have it carry; `resourceVersion` tells a stale look from a new one. */
export interface Look {
  readonly uid: string;
  readonly wanted: string;
  readonly resourceVersion: string;
  readonly carries: boolean;
}

/** What follows from a look. `forMs` is how long the state lasts if nothing else happens. */
export type Standing =
  | { readonly kind: 'calm' }
  /** Do not apply for `forMs`. `isNew`: this look found the reversal, so it is the moment to ask who did it. */
  | { readonly kind: 'paused'; readonly forMs: number; readonly isNew: boolean; readonly manager: string }
  /** We apply, or have applied, and wait whether it lasts. */
  | { readonly kind: 'probation'; readonly forMs: number; readonly manager: string };

/** In memory, bounded, by workload. Times are of one monotonic clock. A restarted operator starts without a grudge. */
export interface Reversals {
  /** Records a look and says where we stand. Call only for a look after which we would apply, or which carries what we want. */
  look(look: Look, atMs: number): Standing;
  /** Who did it, as found out by a live read. */
  blame(uid: string, manager: string): void;
  forget(uid: string): void;
  readonly size: number;
}

interface History {
  readonly wanted: string;
  /** The version after which we last applied. */
  readonly version: string;
  readonly appliedAtMs: number;
  /** Reversals within the window, ascending; never more than `count`. */
  readonly timesMs: readonly number[];
  /** How many pauses there were; 0: no fight. */
  readonly level: number;
  readonly pausedUntilMs: number;
  readonly manager: string;
}

const capacity = 10_000;

export function createReversals(limits: ReversalLimits = reversalLimits): Reversals {
  const histories = new Map<string, History>();

  const keep = (uid: string, history: History): void => {
    histories.delete(uid);
    histories.set(uid, history);
    const oldest = histories.keys().next().value;
    if (histories.size > capacity && oldest !== undefined) histories.delete(oldest);
  };

  return {
    look: (look, atMs) => {
      const before = histories.get(look.uid);
      const known = before?.wanted === look.wanted ? before : undefined;
      if (look.carries) return restful(histories, { look, known, atMs, limits });
      const { next, standing } = strife(look, known, atMs, limits);
      keep(look.uid, next);
      return standing;
    },
    blame: (uid, manager) => {
      const history = histories.get(uid);
      if (history !== undefined) keep(uid, { ...history, manager });
    },
    forget: (uid) => void histories.delete(uid),
    get size() {
      return histories.size;
    },
  };
}

interface Seen {
  readonly look: Look;
  readonly known: History | undefined;
  readonly atMs: number;
  readonly limits: ReversalLimits;
}

/** The workload carries what we want: calm once that has lasted. */
function restful(histories: Map<string, History>, { look, known, atMs, limits }: Seen): Standing {
  if (known === undefined || known.level === 0) return { kind: 'calm' };
  const leftMs = known.appliedAtMs + limits.windowMs - atMs;
  if (leftMs > 0) return { kind: 'probation', forMs: leftMs, manager: known.manager };
  histories.delete(look.uid);
  return { kind: 'calm' };
}

/** The workload lacks what we want: a reversal if we had applied it, and the object has changed since. */
function strife(
  look: Look,
  known: History | undefined,
  atMs: number,
  limits: ReversalLimits,
): { readonly next: History; readonly standing: Standing } {
  if (known === undefined) {
    const { wanted, resourceVersion: version } = look;
    const next = { wanted, version, appliedAtMs: atMs, timesMs: [], level: 0, pausedUntilMs: 0, manager: '' };
    return { next, standing: { kind: 'calm' } };
  }
  const isApplied = known.appliedAtMs >= known.pausedUntilMs;
  const isNew = isApplied && look.resourceVersion !== known.version;
  const history = isNew ? reversed(known, atMs, limits) : known;
  const version = look.resourceVersion;
  if (atMs < history.pausedUntilMs) {
    const { manager } = history;
    const standing: Standing = { kind: 'paused', forMs: history.pausedUntilMs - atMs, isNew, manager };
    return { next: { ...history, version }, standing };
  }
  const next = { ...history, version, appliedAtMs: atMs };
  const { level, manager } = history;
  return { next, standing: level === 0 ? { kind: 'calm' } : { kind: 'probation', forMs: limits.windowMs, manager } };
}

function reversed(history: History, atMs: number, limits: ReversalLimits): History {
  const timesMs = [...history.timesMs, atMs].filter((at) => atMs - at < limits.windowMs).slice(-limits.count);
  const isFight = history.level > 0 || timesMs.length >= limits.count;
  if (!isFight) return { ...history, timesMs };
  const pauseMs = Math.min(limits.pauseMs * 2 ** history.level, limits.longestMs);
  return { ...history, timesMs, level: history.level + 1, pausedUntilMs: atMs + pauseMs };
}
