/** What a validator of a custom resource with a target is made of: a table row a resource, so that the review is written once. */

import type { TargetRef } from '../api/target-ref.ts';
import type { Kind, KubeObject } from '../engine/types.ts';

/** A resource that speaks of one workload. */
export type Targeted = KubeObject & { readonly spec: { readonly targetRef: TargetRef } };

/** A kind that can be a target. */
export interface SupportedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The rules of one resource. All of them look at values alone. */
export interface Rules<T extends Targeted> {
  readonly webhook: { readonly name: string; readonly path: string };
  readonly kind: Kind<T>;
  /** Why the spec cannot stand, a sentence that begins with the path; `before` is the spec it replaces, whose faults are not new. */
  refusal(spec: T['spec'], before: T['spec'] | undefined): string | undefined;
  /** What does no harm but is worth a word, each beginning with its path. */
  warnings(spec: T['spec'], supported: readonly SupportedKind[]): readonly string[];
  /** Whether `other`, which has the same target, stands in the way of `candidate`. */
  isRival(candidate: T, other: T): boolean;
}
