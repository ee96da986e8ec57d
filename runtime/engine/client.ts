/** The verbs of the Kubernetes API on plain JSON objects, typed by their `Kind`. The one file that may cast: what the API server sends for a path is what the kind says. */

import { isBadRequest, isExpired, isNotFound } from './errors.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { RequestSpec, Transport } from './transport.ts';
import type { Fragment, Kind, KubeObject, LiveReader, ObjectKey, ObjectRef } from './types.ts';

/** What any call may add to its request. */
export type CallOptions = Pick<RequestSpec, 'signal' | 'deadlineMs' | 'retries' | 'guard'>;

export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  /** Items a page; absent: everything at once. */
  readonly limit?: number | undefined;
  readonly continueFrom?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

export interface Page<T> {
  /** Each carries apiVersion and kind, which the API server leaves out of lists. */
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Present when there is more. */
  readonly continueFrom: string | undefined;
}

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Take fields from other managers. Default true. */
  readonly force?: boolean;
  readonly subresource?: 'status';
}

export interface PatchOptions extends CallOptions {
  readonly subresource?: 'status' | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Default: the API server's, from the user agent. */
  readonly fieldManager?: string | undefined;
  /** Everything happens but storing it. */
  readonly dryRun?: boolean;
}

export interface WatchOptions extends ListOptions {
  readonly resourceVersion?: string | undefined;
  /** Stream the present objects first. */
  readonly initialEvents?: boolean;
  /** The API server ends the stream after this long. */
  readonly timeoutSeconds: number;
}

export interface Client {
  /** Throws a 404 as `ApiError`; `liveReader` turns it into undefined. */
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** One page, or all. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Page<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: CreateOptions): Promise<T>;
  /** PUT: fails with 409 when `metadata.resourceVersion` is not the live one. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: CallOptions): Promise<T>;
  /** Server-side apply. */
  apply(fragment: Fragment, options: ApplyOptions): Promise<KubeObject>;
  /** JSON merge patch; guarded when `target.uid` is given. */
  mergePatch(target: ObjectRef, body: Readonly<Record<string, unknown>>, options?: PatchOptions): Promise<KubeObject>;
  /** JSON Patch, operations as given. */
  jsonPatch(target: ObjectRef, operations: readonly unknown[], options?: CallOptions): Promise<KubeObject>;
  /** Background propagation; with `target.uid` only that very object. */
  remove(target: ObjectRef, options?: CallOptions): Promise<void>;
  /** The raw lines of a watch, in chunks. */
  watch(kind: Kind, options: WatchOptions): Promise<AsyncIterable<Buffer>>;
  /** See `Transport.dropConnections`. */
  dropConnections(): void;
  close(): Promise<void>;
}

/** A client over one transport. */
export function createClient(transport: Transport): Client {
  const send = async <T extends KubeObject>(spec: RequestSpec): Promise<T> => (await transport.request(spec)) as T;
  return {
    get: (kind, key, options) => send({ ...options, method: 'GET', path: objectPath(kind, key) }),
    list: async <T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}) =>
      pageOf(kind, (await transport.request(listRequest(kind, options))) as RawList<T>),
    create: (kind, object, { fieldManager, dryRun = false, ...options } = {}) =>
      send({
        ...options,
        method: 'POST',
        path: collectionPath(kind, object.metadata.namespace),
        query: { fieldManager, dryRun: dryRun ? 'All' : undefined },
        body: object,
      }),
    replace: (kind, object, options) =>
      send({ ...options, method: 'PUT', path: objectPath(kind, nameOf(object)), body: object }),
    apply: ({ kind, body }, { fieldManager, force = true, subresource, ...options }) =>
      send({
        ...options,
        method: 'PATCH',
        path: pathOf(objectPath(kind, nameOf(body)), subresource),
        query: { fieldManager, force: String(force) },
        contentType: 'application/apply-patch+yaml',
        body,
      }),
    mergePatch: (target, body, options) =>
      send({ ...patchOf(target, options), contentType: 'application/merge-patch+json', body: guarded(target, body) }),
    jsonPatch: (target, operations, options) =>
      send({ ...patchOf(target, options), contentType: 'application/json-patch+json', body: operations }),
    remove: async (target, options) => {
      const preconditions = target.uid === undefined ? {} : { preconditions: { uid: target.uid } };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', ...preconditions };
      await transport.request({ ...options, method: 'DELETE', path: objectPath(target.kind, target), body });
    },
    watch: (kind, options) => transport.stream(watchRequest(kind, options)),
    dropConnections: () => transport.dropConnections(),
    close: () => transport.close(),
  };
}

/** The reader of `Gathering`: 404 is undefined, everything else throws. `signal` ends its requests. */
export function liveReader(client: Client, signal?: AbortSignal): LiveReader {
  return {
    get: async (kind, key) => {
      try {
        return await client.get(kind, key, { signal });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    list: async <T extends KubeObject>(
      kind: Kind<T>,
      { fields, ...where }: { namespace?: string; labels?: string; fields?: string } = {},
    ) => {
      const items: T[] = [];
      const listed = (selected?: string): Promise<string> =>
        eachPage(
          client,
          kind,
          { ...where, fields: selected, signal },
          { begin: () => void (items.length = 0), take: (page) => void items.push(...page) },
        );
      try {
        await listed(fields);
      } catch (error) {
        // Before Kubernetes 1.31, or where the CRD is an older one, custom fields cannot be selected by.
        if (fields === undefined || !isBadRequest(error)) throw error;
        await listed();
      }
      return items;
    },
  };
}

/** Who reads a list. */
export interface ListReader<T> {
  /** A list is about to be asked for; what was taken of a former one is no longer true: what has gone since is in no later page. */
  readonly begin: () => void;
  readonly take: (items: readonly T[]) => void;
}

/**
 * Lists page by page (500 unless `limit` says otherwise) and returns the list's resourceVersion. A continuation that expired on the way
 * (410) is answered by one list without pages, which begins anew.
 */
export async function eachPage<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  options: ListOptions,
  { begin, take }: ListReader<T>,
): Promise<string> {
  let continueFrom: string | undefined;
  begin();
  for (;;) {
    let page: Page<T>;
    try {
      page = await client.list(kind, { limit: 500, ...options, continueFrom });
    } catch (error) {
      if (continueFrom === undefined || !isExpired(error)) throw error;
      begin();
      page = await client.list(kind, { ...options, limit: undefined });
    }
    take(page.items);
    continueFrom = page.continueFrom;
    if (continueFrom === undefined) return page.resourceVersion;
  }
}

interface RawList<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[] | null;
}

function pageOf<T extends KubeObject>(kind: Kind<T>, { metadata, items }: RawList<T>): Page<T> {
  return {
    items: (items ?? []).map((item) => stamped(kind, item)),
    resourceVersion: metadata?.resourceVersion ?? '',
    continueFrom: metadata?.continue === '' ? undefined : metadata?.continue,
  };
}

/** The object under its real kind: lists leave it out, and metadata-only answers say `PartialObjectMetadata`. */
export function stamped<T extends KubeObject>({ apiVersion, kind }: Kind<T>, object: T): T {
  return object.kind === kind && object.apiVersion === apiVersion ? object : { ...object, apiVersion, kind };
}

/** A watch event's object, which is of the kind that was watched. */
export function objectOfKind<T extends KubeObject>(kind: Kind<T>, value: object): T {
  return stamped(kind, value as T);
}

function nameOf({ kind, metadata: { namespace, name } }: KubeObject): ObjectKey {
  if (name === undefined) throw new Error(`a ${kind} without metadata.name cannot be addressed`);
  return { namespace, name };
}

function listRequest(kind: Kind, options: ListOptions): RequestSpec {
  const { namespace, labels, fields, limit, continueFrom, metadataOnly, ...call } = options;
  return {
    ...call,
    method: 'GET',
    path: collectionPath(kind, namespace),
    query: { labelSelector: labels, fieldSelector: fields, limit: limit?.toString(), continue: continueFrom },
    accept: acceptOf(metadataOnly, 'PartialObjectMetadataList'),
  };
}

function watchRequest(kind: Kind, options: WatchOptions): RequestSpec {
  const { resourceVersion, initialEvents, timeoutSeconds, ...list } = options;
  const { query, ...request } = listRequest(kind, list);
  const initial = initialEvents === true ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' } : {};
  const watch = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(timeoutSeconds), resourceVersion };
  return {
    ...request,
    query: { ...query, ...watch, ...initial },
    accept: acceptOf(options.metadataOnly, 'PartialObjectMetadata'),
  };
}

function acceptOf(metadataOnly: boolean | undefined, as: string): string {
  return metadataOnly === true ? `application/json;as=${as};g=meta.k8s.io;v=1,application/json` : 'application/json';
}

function patchOf(target: ObjectRef, { subresource, ...options }: PatchOptions = {}) {
  return { ...options, method: 'PATCH', path: pathOf(objectPath(target.kind, target), subresource) } as const;
}

function pathOf(object: string, subresource: 'status' | undefined): string {
  return subresource === undefined ? object : `${object}/${subresource}`;
}

function guarded({ uid }: ObjectRef, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (uid === undefined) return body;
  const { metadata } = body;
  return { ...body, metadata: { ...(typeof metadata === 'object' ? metadata : {}), uid } };
}
