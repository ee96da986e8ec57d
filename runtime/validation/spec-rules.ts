/** What a schema cannot say about an AgentRuntime's spec, as warnings. Each names its path. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { groupOf, type TargetRef } from '../api/target-ref.ts';

/** A kind that can be enrolled. */
export interface SupportedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Sentences shown to who sent the object. They refuse nothing: the resource does no harm, and its status says the same. Looks at the spec
 * alone: whether the workload exists is the controller's to say, since the order of creation is free.
 */
export function specWarnings(spec: AgentRuntime['spec'], supported: readonly SupportedKind[]): readonly string[] {
  return [...kindWarning(spec.targetRef, supported), ...samplingWarning(spec.trace?.sampling)];
}

function kindWarning(ref: TargetRef, supported: readonly SupportedKind[]): readonly string[] {
  const group = groupOf(ref.apiVersion);
  if (supported.some((row) => row.kind === ref.kind && groupOf(row.apiVersion) === group)) return [];
  const list = supported.map((row) => `${row.kind} (${row.apiVersion})`).join(', ');
  return [`spec.targetRef: ${ref.kind} of ${ref.apiVersion} cannot be enrolled; supported are ${list}.`];
}

function samplingWarning(sampling: NonNullable<AgentRuntime['spec']['trace']>['sampling']): readonly string[] {
  if (sampling?.rate === undefined || sampling.type === undefined || sampling.type === 'probabilistic') return [];
  return [`spec.trace.sampling.rate: has no effect with type ${sampling.type}; remove it, or use type probabilistic.`];
}
