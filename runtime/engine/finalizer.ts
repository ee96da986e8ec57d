/** Puts a controller's finalizer on its objects and takes it off, touching nobody else's. */

import type { CallOptions, Client } from './client.ts';
import { ApiError, isNotFound } from './errors.ts';
import { keyOf } from './store.ts';
import type { Kind, KubeObject, ObjectRef } from './types.ts';

export interface FinalizerScope {
  readonly client: Client;
  readonly kind: Kind;
  readonly finalizer: string;
  readonly call: CallOptions;
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/**
 * The object with the finalizer, and unchanged when it is there already. Fails with a conflict when the object is not the version that
 * was seen, so that a finalizer somebody else adds at the same moment is never overwritten.
 */
export async function addFinalizer<T extends KubeObject>(object: T, scope: FinalizerScope): Promise<T> {
  if (hasFinalizer(object, scope.finalizer)) return object;
  const { resourceVersion, uid, finalizers: present = [] } = object.metadata;
  const finalizers = [...present, scope.finalizer];
  const target: ObjectRef = { kind: scope.kind, ...keyOf(object), uid };
  const written = await scope.client.mergePatch(target, { metadata: { finalizers, resourceVersion } }, scope.call);
  const metadata = { ...object.metadata, finalizers, resourceVersion: written.metadata.resourceVersion };
  return { ...object, metadata };
}

const tries = 3;

/**
 * Takes the finalizer off by a JSON Patch that first tests uid and position; when the list has changed in between, it is read again.
 * Returns the version written, or undefined when the object or the finalizer was gone.
 */
export async function removeFinalizer(object: KubeObject, scope: FinalizerScope): Promise<string | undefined> {
  const { client, kind, finalizer, call } = scope;
  const target: ObjectRef = { kind, ...keyOf(object) };
  let seen = object;
  for (let attempt = 1; ; attempt += 1) {
    const at = seen.metadata.finalizers?.indexOf(finalizer) ?? -1;
    if (at < 0 || seen.metadata.uid !== object.metadata.uid) return undefined;
    const path = `/metadata/finalizers/${at}`;
    const test = [
      { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
      { op: 'test', path, value: finalizer },
    ];
    try {
      const written = await client.jsonPatch(target, [...test, { op: 'remove', path }], call);
      return written.metadata.resourceVersion;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isChanged(error) || attempt >= tries) throw error;
      const fresh = await readAgain(scope, target);
      if (fresh === undefined) return undefined;
      seen = fresh;
    }
  }
}

/** A failed `test` is answered with 422, a race on the server with 409. */
function isChanged(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 422 || error.status === 409);
}

async function readAgain({ client, kind, call }: FinalizerScope, target: ObjectRef): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, target, { signal: call.signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
