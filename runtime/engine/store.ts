/** The objects of one watch in memory: what is kept of each, by key, by namespace and by index; tells old and new of each change. */

import { deepFreeze, member } from './json.ts';
import { keyText } from './paths.ts';
import type { Change, KubeObject, ObjectKey, Watch, Where } from './types.ts';

export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  list(where: Where): readonly T[];
  /** Puts the object in, unless this very version is there. */
  show(object: T): void;
  hide(object: T): void;
  /** Takes out every object of `namespace` (default: all) whose key is not in `seen`. */
  retain(seen: ReadonlySet<string>, namespace?: string): void;
  /** `fieldsV1` of what `manager` owns by server-side apply, for managers in `owners`. */
  owned(object: KubeObject, manager: string, subresource: string | undefined): unknown;
}

export interface StoreOptions<T extends KubeObject> {
  readonly watch: Watch<T>;
  readonly onChange: (change: Change<T>) => void;
  /** Field managers whose ownership is remembered beside each object. */
  readonly owners: ReadonlySet<string>;
  readonly freeze: boolean;
}

interface Owned {
  readonly manager: string;
  readonly subresource: string | undefined;
  readonly fields: unknown;
}

/** An empty store. */
export function createStore<T extends KubeObject>({ watch, onChange, owners, freeze }: StoreOptions<T>): Store<T> {
  const objects = new Map<string, T>();
  const indexes = createIndexes(watch);
  const ownership = new WeakMap<object, readonly Owned[]>();

  const take = (raw: T): T => {
    const whole = watch.metadataOnly === true ? metadataOf(raw) : raw;
    const kept = watch.keep === undefined ? withoutManagedFields(whole) : watch.keep(whole);
    const owned = ownedBy(raw, owners);
    if (owned.length > 0) ownership.set(kept, owned);
    return freeze ? deepFreeze(kept) : kept;
  };
  const put = (key: string, old: T | undefined, now: T | undefined): void => {
    if (old !== undefined) indexes.remove(key, old);
    if (now === undefined) objects.delete(key);
    else {
      objects.set(key, now);
      indexes.add(key, now);
    }
    onChange({ old, now });
  };
  const remove = (key: string): void => {
    const old = objects.get(key);
    if (old !== undefined) put(key, old, undefined);
  };

  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(keyText(key)),
    list: (where) => indexes.keys(where, objects).flatMap((key) => objects.get(key) ?? []),
    show: (raw) => {
      const key = keyText(keyOf(raw));
      const old = objects.get(key);
      const isSameObject = old?.metadata.uid === raw.metadata.uid;
      if (isSameObject && old?.metadata.resourceVersion === raw.metadata.resourceVersion) return;
      if (!isSameObject) remove(key);
      put(key, isSameObject ? old : undefined, take(raw));
    },
    hide: (raw) => remove(keyText(keyOf(raw))),
    retain: (seen, namespace) => {
      for (const [key, object] of objects) {
        const isInScope = namespace === undefined || object.metadata.namespace === namespace;
        if (isInScope && !seen.has(key)) remove(key);
      }
    },
    owned: (object, manager, subresource) =>
      ownership.get(object)?.find((one) => one.manager === manager && one.subresource === subresource)?.fields,
  };
}

export function keyOf({ metadata: { namespace, name = '' } }: KubeObject): ObjectKey {
  return { namespace, name };
}

/** An API server that cannot send metadata alone sends everything. */
function metadataOf<T extends KubeObject>(object: T): T {
  const out = { ...object };
  for (const key of Object.keys(out)) {
    if (key !== 'apiVersion' && key !== 'kind' && key !== 'metadata') Reflect.deleteProperty(out, key);
  }
  return out;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}

function ownedBy(object: KubeObject, owners: ReadonlySet<string>): readonly Owned[] {
  return (object.metadata.managedFields ?? []).flatMap((entry) => {
    const { manager = '', operation, subresource } = entry;
    if (operation !== 'Apply' || !owners.has(manager)) return [];
    return [{ manager, subresource: subresource === '' ? undefined : subresource, fields: member(entry, 'fieldsV1') }];
  });
}

/** An index function that fails leaves its object out of that index: one odd object must not end the watch. */
function safely<T>(valuesOf: (object: T) => readonly string[], object: T): readonly string[] {
  try {
    return valuesOf(object);
  } catch {
    return [];
  }
}

/** Keys by namespace and by the watch's own indexes. An index function that throws leaves its object out of that index. */
function createIndexes<T extends KubeObject>(watch: Watch<T>) {
  const named = Object.entries(watch.indexes ?? {});
  const keys = new Map<string, Set<string>>();
  const slots = (object: T): readonly string[] => {
    const { namespace } = object.metadata;
    const own = namespace === undefined ? [] : [`/${namespace}`];
    return [
      ...own,
      ...named.flatMap(([name, valuesOf]) => safely(valuesOf, object).map((value) => `${name}/${value}`)),
    ];
  };
  return {
    add: (key: string, object: T): void => {
      for (const slot of slots(object)) {
        const set = keys.get(slot);
        if (set === undefined) keys.set(slot, new Set([key]));
        else set.add(key);
      }
    },
    remove: (key: string, object: T): void => {
      for (const slot of slots(object)) {
        const set = keys.get(slot);
        if (set?.delete(key) === true && set.size === 0) keys.delete(slot);
      }
    },
    keys: ({ namespace, index }: Where, all: ReadonlyMap<string, T>): readonly string[] => {
      if (index !== undefined && watch.indexes?.[index.name] === undefined) {
        throw new Error(`watch ${watch.id} has no index ${index.name}`);
      }
      const found = index === undefined ? undefined : (keys.get(`${index.name}/${index.value}`) ?? new Set());
      const inside = namespace === undefined ? undefined : (keys.get(`/${namespace}`) ?? new Set());
      if (found === undefined) return [...(inside ?? all.keys())];
      return [...found].filter((key) => inside === undefined || inside.has(key));
    },
  };
}
