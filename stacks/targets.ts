/** Which workload a resource of ours is about, told from the objects alone. */

import { subjectOf } from '../constructs/rivals.ts';
import { apiGroup } from '../runtime/api/names.ts';
import type { TargetRef } from '../runtime/api/target-ref.ts';
import type { Manifest } from './tree.ts';

/** The workload that an AgentRuntime or an AgentCard targets, equal to what `workloadOf` says of it; undefined of any other object. */
export function targetOf(manifest: Manifest): string | undefined {
  const { targetRef } = (manifest as Manifest & { readonly spec?: { readonly targetRef?: TargetRef } }).spec ?? {};
  if (targetRef === undefined || !manifest.apiVersion.startsWith(`${apiGroup}/`)) return undefined;
  return subjectOf('', manifest.metadata.namespace, targetRef);
}

/** An object as a target. */
export function workloadOf({ apiVersion, kind, metadata: { namespace, name } }: Manifest): string {
  return subjectOf('', namespace, { apiVersion, kind, name });
}
