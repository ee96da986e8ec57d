/** The warning about a target of a kind that the operator does not know. */

import { groupOf, type TargetRef } from '../api/target-ref.ts';
import type { SupportedKind } from './rules.ts';

/**
 * One sentence, or none; `cannot` says what such a workload can never have. It refuses nothing: the resource does no harm, and its status says
 * the same. Whether the workload exists is the controller's to say, since the order of creation is free.
 */
export function kindWarning(ref: TargetRef, cannot: string, supported: readonly SupportedKind[]): readonly string[] {
  const group = groupOf(ref.apiVersion);
  if (supported.some((row) => row.kind === ref.kind && groupOf(row.apiVersion) === group)) return [];
  const list = supported.map((row) => `${row.kind} (${row.apiVersion})`).join(', ');
  return [`spec.targetRef: ${ref.kind} of ${ref.apiVersion} ${cannot}; supported are ${list}.`];
}
