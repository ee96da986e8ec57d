/** Executes a controller's plan, in order, and leaves out every step that is already so. */

import type { Cache, Peeked } from './cache.ts';
import type { CallOptions, Client } from './client.ts';
import { isAlreadyThere, isNotFound, isOtherUid, isRefusedAs } from './errors.ts';
import type { EventRecorder } from './events.ts';
import type { Written } from './expectations.ts';
import { isEqualJson, member } from './json.ts';
import { settledStatus } from './status.ts';
import { keyOf } from './store.ts';
import { contains, covers, isPatched } from './subset.ts';
import type { Fragment, Kind, KubeObject, MergePatch, ObjectRef, Plan } from './types.ts';

export interface PlanScope {
  /** Of every fragment and of the status. */
  readonly fieldManager: string;
  /** The controller, for its events. */
  readonly controller: string;
  /** The primary object's kind and the object as it was observed. */
  readonly primary: { readonly kind: Kind; readonly object: KubeObject };
  /** In a release, an object that is gone or has a namesake's uid is done; else that is a failure, to be looked at again. */
  readonly isRelease: boolean;
  readonly client: Client;
  readonly cache: Pick<Cache, 'peek'>;
  readonly events: EventRecorder;
  /** Throws when nothing may be written any more. Called right before each request. */
  readonly guard: () => void;
  readonly signal: AbortSignal;
  readonly now: Date;
  /** Told of each write. */
  readonly onWritten: (write: Written) => void;
}

/**
 * Runs the steps: create, apply, patch, remove, status, notices. A step that throws stops the rest. What is already so is read from the cache: of a
 * kind that is not watched, or of which a watch keeps less than the fragment states, nothing is known, and each pass sends a request that
 * the API server answers without a write.
 */
export async function executePlan(plan: Plan, scope: PlanScope): Promise<void> {
  for (const fragment of plan.create ?? []) await createObject(fragment, scope);
  for (const fragment of plan.apply ?? []) await applyFragment(fragment, scope);
  for (const patch of plan.patch ?? []) await sendPatch(patch, scope);
  for (const target of plan.remove ?? []) await removeObject(target, scope);
  if (plan.status !== undefined) await writeStatus(plan.status, scope);
  for (const notice of plan.notices ?? []) {
    const { kind, object } = scope.primary;
    const regarding = notice.regarding ?? { kind, ...keyOf(object), uid: object.metadata.uid };
    scope.events.record({ notice, regarding, controller: scope.controller }, scope.guard);
  }
}

function callOf({ guard, signal }: PlanScope): CallOptions {
  return { guard, signal };
}

async function createObject({ kind, body, lostWhen }: Fragment, scope: PlanScope): Promise<void> {
  if (scope.cache.peek(kind, keyOf(body)) !== undefined) return;
  try {
    told(scope, kind, await scope.client.create(kind, body, { ...callOf(scope), fieldManager: scope.fieldManager }));
  } catch (error) {
    // Somebody was faster: what it is, the cache will show.
    if (!isAlreadyThere(error) && !(lostWhen !== undefined && isRefusedAs(error, lostWhen))) throw error;
  }
}

async function applyFragment(fragment: Fragment, scope: PlanScope): Promise<void> {
  const { kind, body } = fragment;
  const key = keyOf(body);
  const live = scope.cache.peek(kind, key);
  if (live !== undefined && isApplied(live, fragment, scope.fieldManager)) return;
  try {
    const object = await scope.client.apply(fragment, { ...callOf(scope), fieldManager: scope.fieldManager });
    told(scope, kind, object);
  } catch (error) {
    if (!scope.isRelease || !isGone(error)) throw error;
  }
}

/** The live object says all of it, and the manager owns nothing that the fragment no longer states. */
function isApplied(live: Peeked, { kind, body }: Fragment, fieldManager: string): boolean {
  return contains(live.object, body, kind.atomic) && covers(body, live.owned(fieldManager));
}

async function sendPatch({ target, body, subresource, mayBeGone }: MergePatch, scope: PlanScope): Promise<void> {
  const live = scope.cache.peek(target.kind, target)?.object;
  const isTarget = target.uid === undefined || live?.metadata.uid === target.uid;
  if (live !== undefined && isTarget && isPatched(live, body)) return;
  try {
    told(scope, target.kind, await scope.client.mergePatch(target, body, { ...callOf(scope), subresource }));
  } catch (error) {
    if (!isNotFound(error) && !((scope.isRelease || mayBeGone === true) && isOtherUid(error))) throw error;
  }
}

async function removeObject(target: ObjectRef, scope: PlanScope): Promise<void> {
  try {
    await scope.client.remove(target, callOf(scope));
  } catch (error) {
    // A uid that does not match is the precondition at work: the object meant is gone.
    if (!isGone(error)) throw error;
    return;
  }
  const uid = target.uid ?? scope.cache.peek(target.kind, target)?.object.metadata.uid;
  scope.onWritten({ kind: target.kind, key: { namespace: target.namespace, name: target.name }, uid });
}

async function writeStatus(desired: unknown, scope: PlanScope): Promise<void> {
  const { kind, object } = scope.primary;
  const { apiVersion, metadata } = object;
  const { name, namespace, uid } = metadata;
  const live = scope.cache.peek(kind, keyOf(object));
  const isSame = live?.object.metadata.uid === uid;
  const current = member(isSame ? live?.object : object, 'status');
  const status = settledStatus(current, desired, scope.now);
  if (isEqualJson(current, status) || (isSame && isStatusWritten(live, status, scope))) return;
  try {
    const body = { apiVersion, kind: kind.kind, metadata: { name, namespace, uid }, status };
    const options = { ...callOf(scope), fieldManager: scope.fieldManager, subresource: 'status' } as const;
    told(scope, kind, await scope.client.apply({ kind, body }, options));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Others may write status fields of their own beside ours. */
function isStatusWritten(live: Peeked | undefined, status: unknown, { fieldManager, primary }: PlanScope): boolean {
  const owned = live?.owned(fieldManager, 'status');
  if (live === undefined || owned === undefined) return false;
  return contains(live.object, { status }, primary.kind.atomic) && covers({ status }, owned);
}

function isGone(error: unknown): boolean {
  return isNotFound(error) || isOtherUid(error);
}

function told(scope: PlanScope, kind: Kind, object: KubeObject): void {
  const { uid, resourceVersion } = object.metadata;
  scope.onWritten({ kind, key: keyOf(object), uid, resourceVersion });
}
