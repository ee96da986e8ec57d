/** The rule "one AgentRuntime per workload": which other resource already has the target, and what to do about it. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { isSameTarget } from '../api/target-ref.ts';

/** What the rule looks at. `name` is empty for an object whose name the API server has yet to generate. */
export interface Candidate {
  readonly namespace: string;
  readonly name: string;
  readonly spec: AgentRuntime['spec'];
}

/**
 * Why `candidate` may not have its target, as a sentence naming the resource that has it; undefined when nobody has.
 * A resource that is being deleted still has its target: until its finalizer is gone its labels are on the workload.
 * Several hold it only when they slipped in together; the oldest is named, as the controller lets it win.
 */
export function targetConflict(candidate: Candidate, others: readonly AgentRuntime[]): string | undefined {
  const { targetRef } = candidate.spec;
  const holder = others
    .filter((other) => other.metadata.name !== candidate.name && hasTarget(other, candidate))
    .sort(byAge)[0];
  if (holder === undefined) return undefined;
  const name = holder.metadata.name ?? '';
  const taken = `an AgentRuntime already targets ${targetRef.kind} ${targetRef.name} in namespace ${candidate.namespace}: ${name}`;
  return holder.metadata.deletionTimestamp === undefined
    ? `${taken}. A workload has one AgentRuntime: change ${name} instead, or delete it first.`
    : `${taken}, which is being deleted. Try again when it is gone.`;
}

/** Objects older than the schema may lack a target altogether; they have none. */
function hasTarget(other: AgentRuntime, candidate: Candidate): boolean {
  const theirs: AgentRuntime['spec']['targetRef'] | undefined = (other as Partial<AgentRuntime>).spec?.targetRef;
  return theirs !== undefined && isSameTarget(theirs, candidate.spec.targetRef);
}

function byAge(a: AgentRuntime, b: AgentRuntime): number {
  const key = ({ metadata }: AgentRuntime) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}
