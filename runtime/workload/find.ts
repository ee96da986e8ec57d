/** Finds the workload a `targetRef` names, in the cache. */

import type { TargetRef } from '../api/target-ref.ts';
import type { Reader } from '../engine/types.ts';
import { rowOf, workloadRows } from './kinds.ts';
import { type Workload, workloadOf } from './workload.ts';

export type Target =
  | { readonly found: Workload }
  | { readonly missing: true }
  | { readonly unsupported: string }
  | { readonly unreadable: string };

/** Throws `NotSynced` as the cache does: a workload that is not known yet is not a missing one. */
export function findTarget(reader: Reader, namespace: string, ref: TargetRef): Target {
  const row = rowOf(ref);
  if (row === undefined) return { unsupported: unsupported(ref) };
  const object = reader.get(row.watch, { namespace, name: ref.name });
  return object === undefined ? { missing: true } : { found: workloadOf(row, object) };
}

/** The same, but a kind that the API server does not let us read is a value, with the reason (RB-02). */
export function lookUpTarget(reader: Reader, namespace: string, ref: TargetRef): Target {
  try {
    return findTarget(reader, namespace, ref);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'NOT_SYNCED')) throw error;
    return { unreadable: error.message };
  }
}

function unsupported(ref: TargetRef): string {
  const supported = workloadRows.map((row) => `${row.watch.kind.apiVersion} ${row.kind}`).join(', ');
  return `${ref.apiVersion} ${ref.kind} cannot be a target; supported are ${supported}`;
}
