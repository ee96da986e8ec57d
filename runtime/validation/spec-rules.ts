/** What a schema cannot say about an AgentRuntime's spec: errors that refuse it, and warnings that come with it. Each names its path. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { groupOf, type TargetRef } from '../api/target-ref.ts';

/** A kind that can be enrolled. */
export interface SupportedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface SpecReport {
  /** Sentences; any one refuses the object. */
  readonly errors: readonly string[];
  /** Sentences shown to who sent the object. The controller's status repeats those that stop it. */
  readonly warnings: readonly string[];
}

/** Looks at the spec alone: whether the workload exists is the controller's to say, since the order of creation is free. */
export function checkSpec(spec: AgentRuntime['spec'], supported: readonly SupportedKind[]): SpecReport {
  return {
    errors: apiVersionError(spec.targetRef),
    warnings: [...kindWarning(spec.targetRef, supported), ...samplingWarning(spec.trace?.sampling)],
  };
}

const apiVersionPattern = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v[a-z0-9]+$/;

function apiVersionError({ apiVersion }: TargetRef): readonly string[] {
  if (apiVersionPattern.test(apiVersion)) return [];
  return [
    `spec.targetRef.apiVersion: ${JSON.stringify(apiVersion)} is no API version; write it as group/version, for example apps/v1.`,
  ];
}

/** A warning and no error: the resource does no harm, and its status says the same. */
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
