/** Whether a live object already says everything a partial one wants to say, so that no write is needed. */

import { isEqualJson, isObject, type JsonObject } from './json.ts';

/** The built-in lists that server-side apply merges by key instead of replacing, by the name of their field. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  volumes: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  secrets: 'name',
  volumeMounts: 'mountPath',
  ownerReferences: 'uid',
  conditions: 'type',
};

/** The built-in lists that server-side apply treats as sets. */
const setFields: ReadonlySet<string> = new Set(['finalizers']);

/** The built-in maps that server-side apply replaces as a whole: a key that somebody added is a difference. */
const atomicFields: readonly string[] = ['podSelector'];

/**
 * True when `live` holds every leaf of `fragment`: applying it would then change nothing. Errs towards false, which costs one request
 * that the API server answers without a write. `undefined` and `null` leaves want nothing; an empty object under `metadata` neither,
 * since the API server drops empty maps there. `atomic`: see `Kind.atomic`.
 */
export function contains(live: unknown, fragment: unknown, atomic: readonly string[] = []): boolean {
  return holds(live, fragment, { field: '', atomic: [...atomicFields, ...atomic] });
}

interface Place {
  readonly field: string;
  readonly atomic: readonly string[];
}

function holds(live: unknown, wanted: unknown, place: Place): boolean {
  const { field, atomic } = place;
  if (wanted === undefined || wanted === null) return true;
  if (Array.isArray(wanted)) return Array.isArray(live) && holdsList(live, wanted, place);
  if (atomic.includes(field)) return isEqualJson(live, wanted);
  if (!isObject(wanted)) return live === wanted;
  if (!isObject(live)) return false;
  return Object.entries(wanted).every(
    ([key, value]) => (field === 'metadata' && isEmpty(value)) || holds(live[key], value, { field: key, atomic }),
  );
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function holdsList(live: readonly unknown[], wanted: readonly unknown[], { field, atomic }: Place): boolean {
  if (setFields.has(field)) return wanted.every((item) => live.some((one) => isEqualJson(one, item)));
  const key = mergeKeys[field];
  if (key === undefined || !wanted.every((item) => isObject(item) && item[key] !== undefined)) {
    return live.length === wanted.length && wanted.every((item, i) => isEqualJson(live[i], item));
  }
  return wanted.every((item) => {
    const mine = isObject(item) ? item[key] : undefined;
    return holds(
      live.find((one) => isObject(one) && one[key] === mine),
      item,
      { field: '', atomic },
    );
  });
}

/** True when a JSON merge patch (RFC 7386) would change nothing: its `null`s are absent, its other leaves equal. */
export function isPatched(live: unknown, patch: unknown): boolean {
  if (patch === null) return live === undefined;
  if (!isObject(patch)) return isEqualJson(live, patch);
  if (!isObject(live)) return Object.values(patch).every((value) => value === null) && live === undefined;
  return Object.entries(patch).every(([key, value]) => isPatched(live[key], value));
}

/**
 * True when everything a field manager owns (`fieldsV1`, as the API server recorded it) is stated in `fragment`: then applying the
 * fragment takes nothing away. A manager that owns nothing (`undefined`) is covered by anything.
 */
export function covers(fragment: unknown, owned: unknown): boolean {
  if (!isObject(owned)) return true;
  return Object.entries(owned).every(([key, inner]) => key === '.' || coversOne(fragment, key, inner));
}

function coversOne(fragment: unknown, key: string, inner: unknown): boolean {
  const name = key.slice(2);
  switch (key.slice(0, 2)) {
    case 'f:': {
      const value = isObject(fragment) ? fragment[name] : undefined;
      return value !== undefined && value !== null && covers(value, inner);
    }
    case 'k:':
      return coversItem(fragment, JSON.parse(name), inner);
    case 'v:': {
      const value: unknown = JSON.parse(name);
      return Array.isArray(fragment) && fragment.some((item) => isEqualJson(item, value));
    }
    default:
      return false;
  }
}

function coversItem(fragment: unknown, keys: unknown, inner: unknown): boolean {
  if (!Array.isArray(fragment) || !isObject(keys)) return false;
  const wanted: JsonObject = keys;
  return fragment.some(
    (item) =>
      isObject(item) && Object.entries(wanted).every(([k, v]) => defaulted(item, k) === v) && covers(item, inner),
  );
}

/** Port protocols are part of a list key and defaulted by the API server. */
function defaulted(item: JsonObject, key: string): unknown {
  return item[key] ?? (key === 'protocol' ? 'TCP' : undefined);
}
