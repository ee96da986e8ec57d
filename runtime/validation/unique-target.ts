/** The rule "one AgentRuntime, one AgentCard per workload": which other resource already has the target, and what to do about it. */

import { isSameTarget } from '../api/target-ref.ts';
import type { Targeted } from './rules.ts';

/** What the rule looks at. `name` is empty for an object whose name the API server has yet to generate. */
export interface Candidate<T extends Targeted> {
  readonly namespace: string;
  readonly name: string;
  readonly object: T;
}

/**
 * Why `candidate` may not have its target, as a sentence naming the resource that has it; undefined when nobody has. `others` are of its kind.
 * A resource that is being deleted still has its target: until its finalizer is gone what it brought about is on the workload.
 * Several hold it only when they slipped in together; the oldest is named, as the controller lets it win.
 */
export function targetConflict<T extends Targeted>(
  { namespace, name, object }: Candidate<T>,
  others: readonly T[],
): string | undefined {
  const { kind, spec } = object;
  const { targetRef } = spec;
  const holder = others.filter((other) => other.metadata.name !== name && hasTarget(other, object)).sort(byAge)[0];
  if (holder === undefined) return undefined;
  const first = holder.metadata.name ?? '';
  const taken = `an ${kind} already targets ${targetRef.kind} ${targetRef.name} in namespace ${namespace}: ${first}`;
  return holder.metadata.deletionTimestamp === undefined
    ? `${taken}. A workload has one ${kind}: change ${first} instead, or delete it first.`
    : `${taken}, which is being deleted. Try again when it is gone.`;
}

/** Objects older than the schema may lack a target altogether; they have none. */
function hasTarget(other: Targeted, candidate: Targeted): boolean {
  const theirs = (other as Partial<Targeted>).spec?.targetRef;
  return theirs !== undefined && isSameTarget(theirs, candidate.spec.targetRef);
}

function byAge(a: Targeted, b: Targeted): number {
  const key = ({ metadata }: Targeted) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}
