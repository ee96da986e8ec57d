/** Permissions, as features declare them, to the rules of a (Cluster)Role: merged, sorted, never wider than declared. */

import type { Permission } from '../runtime/engine/types.ts';
import { grouped } from './grouped.ts';

/** One rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One resource of one group, limited to some names or not, with every verb asked of it. */
interface Grant {
  readonly apiGroup: string;
  readonly resource: string;
  readonly resourceNames: readonly string[];
  readonly verbs: readonly string[];
}

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort();

const names = ({ resources, apiGroup }: Permission): string =>
  resources.map((resource) => (apiGroup === '' ? resource : `${resource}.${apiGroup}`)).join(', ');

/**
 * Throws on a wildcard. `create` limited by name is no mistake: it allows creation by server-side apply, where the name is in the URL,
 * and by nothing else.
 */
function check(permission: Permission): void {
  const words = [
    permission.apiGroup,
    ...permission.resources,
    ...permission.verbs,
    ...(permission.resourceNames ?? []),
  ];
  if (words.some((word) => word.includes('*'))) {
    throw new Error(
      `permission on ${names(permission)}: a wildcard grants what nobody listed; name each verb and resource`,
    );
  }
}

function grantsOf(permissions: readonly Permission[]): readonly Grant[] {
  const merged = new Map<string, Grant>();
  for (const permission of permissions) {
    check(permission);
    const resourceNames = sorted(permission.resourceNames ?? []);
    for (const resource of permission.resources) {
      const key = JSON.stringify([permission.apiGroup, resource, resourceNames]);
      const verbs = sorted([...(merged.get(key)?.verbs ?? []), ...permission.verbs]);
      merged.set(key, { apiGroup: permission.apiGroup, resource, resourceNames, verbs });
    }
  }
  return [...merged.values()];
}

/** The rules that grant exactly `permissions`: same input in any order, same output. */
export function policyRules(permissions: readonly Permission[]): readonly PolicyRule[] {
  const groups = grouped(grantsOf(permissions), ({ apiGroup, resourceNames, verbs }) =>
    JSON.stringify([apiGroup, resourceNames, verbs]),
  );
  return [...groups.values()]
    .flatMap((grants): readonly PolicyRule[] => {
      const [first] = grants;
      if (first === undefined) return [];
      const limit = first.resourceNames.length === 0 ? {} : { resourceNames: first.resourceNames };
      const resources = sorted(grants.map(({ resource }) => resource));
      return [{ apiGroups: [first.apiGroup], resources, ...limit, verbs: first.verbs }];
    })
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ apiGroups, resources, resourceNames }: PolicyRule): string {
  return JSON.stringify([...apiGroups, resources.join(), (resourceNames ?? []).join()]);
}

/** One line a permission, for the administrator who reviews the role: `pods: count what carries the sidecars`. */
export function reasons(permissions: readonly Permission[]): string {
  return sorted(
    permissions.map((permission) => `${names(permission)} (${sorted(permission.verbs).join(', ')}): ${permission.why}`),
  ).join('\n');
}
