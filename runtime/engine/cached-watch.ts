/** One watch of the cache: its store, fed by one reflector a namespace, its listeners and its state. */

import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import { sentenceOf } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { keyText } from './paths.ts';
import { reflect, type ReflectorState, type ServerTraits, type Sink, type WatchTimings } from './reflector.ts';
import { createStore, keyOf, type Store } from './store.ts';
import type { Change, KubeObject, Log, Watch } from './types.ts';

/** How one watch stands. With several namespaces: the worst of them. */
export interface WatchState extends ReflectorState {
  readonly id: string;
  readonly objects: number;
}

export interface CachedWatch {
  readonly watch: Watch;
  readonly store: Store<KubeObject>;
  /** Called with each change; a listener that throws hurts nobody else. */
  readonly listeners: Set<(change: Change) => void>;
  /**
   * Why this namespace (undefined: all that are watched) cannot be read; undefined when it can. All together can be read when at least one
   * has been viewed and the others were refused: what appears in those later is a change like any other.
   */
  unreadable(namespace: string | undefined): string | undefined;
  /** Whether nothing of what is watched may be read: in namespaced mode no namespace at all. */
  readonly isRefused: boolean;
  /** Whether all that are watched can be read, in views that were begun at `sinceMs` of the monotonic clock or later. */
  isFresh(sinceMs: number): boolean;
  /** Resolves when that is so; begins a new view wherever the last was begun earlier. What was read stays readable meanwhile. */
  fresh(sinceMs: number): Promise<void>;
  state(): WatchState;
  /** Resolves when every reflector has ended. */
  readonly ended: Promise<unknown>;
}

export interface CachedWatchOptions {
  readonly watch: Watch;
  readonly namespaces: readonly (string | undefined)[];
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly timings: WatchTimings;
  readonly traits: ServerTraits;
  readonly owners: ReadonlySet<string>;
  readonly freeze: boolean;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onState: (state: WatchState) => void;
}

/** Begins to watch. */
export function beginWatch(options: CachedWatchOptions): CachedWatch {
  const { watch, namespaces, log, clock, signal } = options;
  const listeners = new Set<(change: Change) => void>();
  const states = new Map<string | undefined, ReflectorState>(namespaces.map((ns) => [ns, { phase: 'waiting' }]));
  /** When the last view was begun, and when the last complete one was. */
  const begun = new Map<string | undefined, number>();
  const viewed = new Map<string | undefined, number>();
  const isUnavailable = (ns: string | undefined): boolean => states.get(ns)?.phase === 'unavailable';
  const isFresh = (sinceMs: number): boolean => {
    const isViewed = (ns: string | undefined): boolean => (viewed.get(ns) ?? Number.NaN) >= sinceMs;
    return namespaces.some(isViewed) && namespaces.every((ns) => isViewed(ns) || isUnavailable(ns));
  };
  const waiting = new Set<{ readonly sinceMs: number; readonly resolve: () => void }>();
  const tellFresh = (): void => {
    for (const one of waiting) if (isFresh(one.sinceMs) && waiting.delete(one)) one.resolve();
  };
  const gauge = objectsGauge(options);
  const store = createStore({
    watch,
    owners: options.owners,
    freeze: options.freeze,
    onChange: (change) => listeners.forEach((listener) => tell(listener, change, { watch: watch.id, log })),
  });
  const state = (): WatchState => ({ ...worstOf([...states.values()]), id: watch.id, objects: store.size });

  const reflectors = namespaces.map((namespace) => ({
    namespace,
    ...reflect(
      {
        ...options,
        id: watch.id,
        kind: watch.kind,
        select: {
          namespace,
          labels: watch.labels,
          metadataOnly: watch.metadataOnly,
          fields: watch.name === undefined ? undefined : `metadata.name=${watch.name}`,
        },
        sink: sinkOf(options, store, {
          namespace,
          onBegun: () => void begun.set(namespace, clock.monotonicMs()),
          onViewed: () => {
            viewed.set(namespace, begun.get(namespace) ?? -Infinity);
            tellFresh();
          },
        }),
        onState: (next) => {
          const before = states.get(namespace);
          if (before?.phase === next.phase && before.reason === next.reason) return;
          states.set(namespace, next);
          tellFresh();
          gauge(state());
          options.onState(state());
        },
      },
      signal,
    ),
  }));
  return {
    watch,
    store,
    listeners,
    get isRefused() {
      return namespaces.every(isUnavailable);
    },
    isFresh,
    fresh: (sinceMs) => {
      if (isFresh(sinceMs)) return Promise.resolve();
      const old = reflectors.filter(({ namespace }) => (begun.get(namespace) ?? -Infinity) < sinceMs);
      // The connection may be what the view is old for.
      if (old.length > 0) options.client.dropConnections();
      for (const reflector of old) reflector.refresh();
      return new Promise((resolve) => waiting.add({ sinceMs, resolve }));
    },
    state,
    unreadable: (namespace) => {
      const of = namespaces.includes(undefined) ? undefined : namespace;
      if (of === undefined)
        return isFresh(-Infinity) || viewed.size === namespaces.length ? undefined : noView(state());
      if (!namespaces.includes(of)) return `namespace ${of} is not watched`;
      return viewed.has(of) ? undefined : noView(states.get(of));
    },
    ended: Promise.all(reflectors.map((reflector) => reflector.ended)),
  };
}

function noView(state: ReflectorState | undefined): string {
  return state?.reason ?? 'its first list is not complete';
}

/** Calls one listener; what it throws is logged and goes no further. */
export function tell(listener: (change: Change) => void, change: Change, at: { watch: string; log: Log }): void {
  try {
    listener(change);
  } catch (error) {
    const object = change.now ?? change.old;
    const key = object === undefined ? undefined : keyText(keyOf(object));
    at.log.error('watch listener failed', { watch: at.watch, key, reason: sentenceOf(error), err: error });
  }
}

interface Viewing {
  readonly namespace: string | undefined;
  readonly onBegun: () => void;
  readonly onViewed: () => void;
}

/** The sink of one namespace. An object that cannot be kept is logged and left out: one odd object must not end the watch. */
function sinkOf(
  { watch, log }: CachedWatchOptions,
  store: Store<KubeObject>,
  { namespace, onBegun, onViewed }: Viewing,
): Sink<KubeObject> {
  let seen: Set<string> | undefined;
  return {
    beginView: () => {
      seen = new Set();
      onBegun();
    },
    show: (object) => {
      const key = keyText(keyOf(object));
      seen?.add(key);
      try {
        store.show(object);
      } catch (error) {
        log.error('object cannot be cached', { watch: watch.id, key, reason: sentenceOf(error), err: error });
      }
    },
    hide: (object) => {
      seen?.delete(keyText(keyOf(object)));
      store.hide(object);
    },
    endView: () => {
      if (seen !== undefined) store.retain(seen, namespace);
      seen = undefined;
      onViewed();
    },
  };
}

function worstOf(states: readonly ReflectorState[]): ReflectorState {
  const of = (phase: ReflectorState['phase']) => states.find((state) => state.phase === phase);
  const broken = states.find(({ reason }) => reason !== undefined);
  return of('unavailable') ?? of('waiting') ?? broken ?? { phase: 'synced' };
}

function objectsGauge({ metrics }: CachedWatchOptions): (state: WatchState) => void {
  const synced = metrics.gauge<'watch'>({
    name: 'watch_synced',
    help: '1 when the watch has a complete view and is kept up to date, else 0.',
    labels: ['watch'],
  });
  return ({ id, phase, reason }) => synced.set({ watch: id }, phase === 'synced' && reason === undefined ? 1 : 0);
}
