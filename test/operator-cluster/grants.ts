/** The operator's rights, from the rendered roles, as single grants; and which of them a log of requests used. */

import { install } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import type { AuditRequest } from '../support/audit-log.ts';

/** One verb on one resource, at one place. */
export interface Grant {
  readonly verb: string;
  /** With its group: `apps/deployments`, `/pods`. */
  readonly resource: string;
  /** A namespace; `*` for a ClusterRole. */
  readonly at: string;
  /** Empty: any name. */
  readonly names: readonly string[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Every grant of the synthesized Roles and ClusterRoles that the operator's account is bound to. */
export function grantsIn(objects: readonly KubeObject[]): readonly Grant[] {
  const bindings = objects.filter(({ kind }) =>
    kind.endsWith('RoleBinding'),
  ) as readonly unknown[] as readonly Binding[];
  return bindings.flatMap(({ roleRef, subjects, metadata }) => {
    const isOurs = subjects.some(
      ({ name, namespace }) => name === install.serviceAccount && namespace === install.namespace,
    );
    const role = objects.find(
      (one) =>
        one.kind === roleRef.kind &&
        one.metadata.name === roleRef.name &&
        one.metadata.namespace === metadata.namespace,
    );
    if (!isOurs || role === undefined) throw new Error(`binding ${metadata.name ?? ''} is not understood`);
    return (role as KubeObject & { readonly rules: readonly Rule[] }).rules.flatMap((rule) =>
      grantsOf(rule, metadata.namespace ?? '*'),
    );
  });
}

type Binding = KubeObject & {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
};

function grantsOf({ apiGroups, resources, verbs, resourceNames = [] }: Rule, at: string): readonly Grant[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => ({ verb, resource: `${group}/${resource}`, at, names: resourceNames })),
    ),
  );
}

/** `patch apps/deployments *`, with names where the grant has some. */
export function grantText({ verb, resource, at, names }: Grant): string {
  return [verb, resource, at, ...names].join(' ');
}

/** Grants of the same verb on the same resource that reach less: fewer names, or one place of many. */
function narrower(grant: Grant, all: readonly Grant[]): readonly Grant[] {
  const { verb, resource, at, names } = grant;
  if (names.length > 0) return [];
  return all.filter(
    (other) =>
      other.verb === verb && other.resource === resource && (other.at === at ? other.names.length > 0 : at === '*'),
  );
}

/** Whether this request needs this grant: it uses it, and no narrower one would have done. */
export function isNeededFor(grant: Grant, request: AuditRequest, all: readonly Grant[]): boolean {
  return isUsedBy(grant, request) && !narrower(grant, all).some((other) => isUsedBy(other, request));
}

/** Server-side apply of an object that is not there yet: the API server asks for "create" as well, and answers 201. */
function verbsOf({ verb, responseStatus }: AuditRequest): readonly string[] {
  return verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
}

/** Whether this request needs this grant. A list or watch of one object names it in its field selector. */
export function isUsedBy({ verb, resource, at, names }: Grant, request: AuditRequest): boolean {
  const { apiGroup = '', resource: plural = '', subresource, namespace, name } = request.objectRef ?? {};
  const asked = [`${apiGroup}/${plural}`, subresource].filter(Boolean).join('/');
  const selected = /fieldSelector=metadata\.name%3D([a-z0-9.-]+)/.exec(request.requestURI)?.[1];
  const wanted = name ?? selected;
  return (
    verbsOf(request).includes(verb) &&
    asked === resource &&
    (at === '*' || at === namespace) &&
    (names.length === 0 || (wanted !== undefined && names.includes(wanted)))
  );
}
