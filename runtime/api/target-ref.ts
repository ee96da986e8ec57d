/** `targetRef`: the workload a custom resource speaks of. Shared by AgentRuntime and AgentCard. */

import { Type } from 'typebox';

/** Group, kind and name; the namespace is always the resource's own. */
export const TargetRef = Type.Object(
  {
    apiVersion: Type.String({
      minLength: 1,
      maxLength: 317,
      pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+$',
      description: 'API version of the workload, for example apps/v1.',
    }),
    kind: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: '^[A-Z][A-Za-z0-9]*$',
      description: 'Kind of the workload, of letters and digits, beginning with a capital, for example Deployment.',
    }),
    name: Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      description:
        'Name of the workload, in the namespace of this resource, of lower-case letters, digits, dashes and dots, for example weather.',
    }),
  },
  { description: 'The workload, in the namespace of this resource.' },
);
export type TargetRef = Type.Static<typeof TargetRef>;

/** The API group of a reference: `apps` of `apps/v1`, the empty string for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** True when both name the same workload: group, kind and name count, the version does not. */
export function isSameTarget(a: TargetRef, b: TargetRef): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);
}
