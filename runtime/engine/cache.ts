/** The cache: every started watch mirrored in memory, shared by all who pass the same `Watch` constant, honest about what it knows. */

import { beginWatch, type CachedWatch, tell, type WatchState } from './cached-watch.ts';
import { type Client, objectOfKind } from './client.ts';
import type { Clock } from './clock.ts';
import { NotSynced } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { defaultTimings, type ServerTraits, type WatchTimings } from './reflector.ts';
import { createRevival } from './revival.ts';
import type { Change, Kind, KubeObject, Log, ObjectKey, Reader, Watch } from './types.ts';

/** An object as the cache last saw it. */
export interface Peeked {
  readonly object: KubeObject;
  /** `fieldsV1` of what this manager owns by server-side apply; undefined: nothing, or the manager was never made known. */
  owned(manager: string, subresource?: 'status'): unknown;
}

export interface Cache extends Reader {
  /** Begins to watch. Asking again with the same constant changes nothing; another constant with the same id throws. */
  start(watch: Watch): void;
  /** Resolves when the watch has had its first complete view (in namespaced mode: of every namespace it is let into). Starts it. */
  synced(watch: Watch): Promise<void>;
  /**
   * Resolves when the watch has a complete view that was begun at `sinceMs` of the monotonic clock or later, so that it holds all that was written
   * before; begins one where the last was begun earlier. Until then the former view is read. Starts it.
   */
  fresh(watch: Watch, sinceMs: number): Promise<void>;
  /** Whether it has such a view. Starts it. */
  isFresh(watch: Watch, sinceMs: number): boolean;
  /** Whether the API server refuses all of it: in namespaced mode in every namespace. Starts it. */
  isRefused(watch: Watch): boolean;
  /** Starts it, too. */
  state(watch: Watch): WatchState;
  /** Of every watch that was started. */
  states(): readonly WatchState[];
  /** Calls back for each present object (`now` alone), then for each change. What it throws is logged. Returns its own stop. */
  subscribe<T extends KubeObject>(watch: Watch<T>, listener: (change: Change<T>) => void): () => void;
  /** Called when the state of any watch has changed. Returns its own stop. */
  onState(listener: (state: WatchState) => void): () => void;
  /** The object as any complete watch of its kind holds it, whole ones before metadata alone. */
  peek(kind: Kind, key: ObjectKey): Peeked | undefined;
  /** Whether any complete watch is of this kind. */
  watches(kind: Kind): boolean;
  /** There is reason to believe that what was refused is there by now: watches that wait to ask again do so within a second. */
  revive(): void;
  /** Remembers what this field manager owns of the objects seen from now on: called before `start`. */
  rememberOwner(fieldManager: string): void;
  /** Ends every watch; resolves when they have ended. What was read stays readable. */
  stop(): Promise<void>;
}

export interface CacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Watch namespaced kinds here only, one request each. Undefined: the whole cluster. A namespace need not exist yet. */
  readonly namespaces?: readonly string[] | undefined;
  /** Freeze what is cached, so that whoever changes it fails. Default false. */
  readonly freeze?: boolean;
  readonly timings?: Partial<WatchTimings>;
  /** Default `Math.random`. */
  readonly random?: () => number;
  /** Ask for lists as streams while the API server does not refuse. Default true. */
  readonly streamLists?: boolean;
}

/** An empty cache; nothing is requested before `start`. */
export function createCache(options: CacheOptions): Cache {
  const { freeze = false, random = Math.random, log } = options;
  const stopping = new AbortController();
  const watches = new Map<Watch, CachedWatch>();
  const owners = new Set<string>();
  const stateListeners = new Set<(state: WatchState) => void>();
  const traits: ServerTraits = {
    streamsLists: options.streamLists ?? true,
    revival: createRevival(options.clock, random),
  };

  const start = (watch: Watch): CachedWatch => {
    const known = watches.get(watch);
    if (known !== undefined) return known;
    if ([...watches.keys()].some(({ id }) => id === watch.id)) throw new Error(`two watches have the id ${watch.id}`);
    const begun = beginWatch({
      ...options,
      watch,
      owners,
      traits,
      freeze,
      random,
      signal: stopping.signal,
      namespaces: namespacesOf(watch, options.namespaces),
      timings: { ...defaultTimings, ...options.timings },
      onState: (state) => stateListeners.forEach((listener) => listener(state)),
    });
    watches.set(watch, begun);
    return begun;
  };
  const readable = (watch: Watch, namespace: string | undefined): CachedWatch => {
    const known = watches.get(watch);
    if (known === undefined) throw new NotSynced(watch.id, 'it was never started');
    const why = known.unreadable(namespace);
    if (why !== undefined) throw new NotSynced(watch.id, why);
    return known;
  };

  return {
    start: (watch) => void start(watch),
    synced: (watch) => start(watch).fresh(-Infinity),
    fresh: (watch, sinceMs) => start(watch).fresh(sinceMs),
    isFresh: (watch, sinceMs) => start(watch).isFresh(sinceMs),
    isRefused: (watch) => start(watch).isRefused,
    state: (watch) => start(watch).state(),
    states: () => [...watches.values()].map((known) => known.state()),
    get: (watch, key) => typed(watch.kind, readable(watch, key.namespace).store.get(key)),
    list: (watch, where = {}) =>
      readable(watch, where.namespace)
        .store.list(where)
        .map((object) => objectOfKind(watch.kind, object)),
    subscribe: (watch, listener) => {
      const { listeners, store } = start(watch);
      const inner = ({ old, now }: Change): void =>
        listener({ old: typed(watch.kind, old), now: typed(watch.kind, now) });
      listeners.add(inner);
      for (const now of store.list({})) tell(inner, { now }, { watch: watch.id, log });
      return () => void listeners.delete(inner);
    },
    onState: (listener) => {
      stateListeners.add(listener);
      return () => void stateListeners.delete(listener);
    },
    peek: (kind, key) => peek([...watches.values()], kind, key),
    watches: (kind) =>
      [...watches.values()].some(
        (known) => known.unreadable(undefined) === undefined && isSameKind(known.watch.kind, kind),
      ),
    revive: () => traits.revival.announce('there'),
    rememberOwner: (fieldManager) => void owners.add(fieldManager),
    stop: async () => {
      stopping.abort(new Error('the cache has stopped'));
      await Promise.all([...watches.values()].map(({ ended }) => ended));
    },
  };
}

function typed<T extends KubeObject>(kind: Kind<T>, object: KubeObject | undefined): T | undefined {
  return object === undefined ? undefined : objectOfKind(kind, object);
}

/** Where to watch: one request a namespace in namespaced mode, one for the cluster else. */
function namespacesOf(
  { kind, namespace }: Watch,
  watched: readonly string[] | undefined,
): readonly (string | undefined)[] {
  if (!kind.namespaced) return [undefined];
  if (namespace !== undefined) return [namespace];
  return watched === undefined ? [undefined] : [...new Set(watched)];
}

function peek(watches: readonly CachedWatch[], kind: Kind, key: ObjectKey): Peeked | undefined {
  const ofKind = watches
    .filter((known) => isSameKind(known.watch.kind, kind) && known.unreadable(key.namespace) === undefined)
    .sort((a, b) => Number(a.watch.metadataOnly === true) - Number(b.watch.metadataOnly === true));
  for (const { store } of ofKind) {
    const object = store.get(key);
    if (object !== undefined)
      return { object, owned: (manager, subresource) => store.owned(object, manager, subresource) };
  }
  return undefined;
}

function isSameKind(a: Kind, b: Kind): boolean {
  return a.kind === b.kind && a.apiVersion === b.apiVersion;
}
