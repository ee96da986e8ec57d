/** What the operator may do, rendered only from the permissions that the features declare beside their code. */

import { isDeepStrictEqual } from 'node:util';
import { Construct } from 'constructs';
import type { Permission } from '../runtime/engine/types.ts';
import { platformObject } from './platform-objects.ts';
import { policyRules, reasons } from './policy-rules.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';

/** Props of `OperatorRbac`. */
export interface OperatorRbacProps {
  /** The operator's namespace. */
  readonly namespace: string;
  /** Account of the operator. */
  readonly serviceAccountName: string;
  /** What every role's name begins with. */
  readonly prefix: string;
  readonly watched: WatchedNamespaces;
  readonly permissions: readonly Permission[];
}

/** Annotation with one line a permission: what is granted and why. */
export const whyAnnotation = 'rossoctl.io/why';

const rbac = 'rbac.authorization.k8s.io';
const component = 'rbac';

/**
 * Roles and bindings of the operator's account: what is not used is not granted.
 *
 * | permission's scope | cluster mode              | namespaced mode                         |
 * |--------------------|---------------------------|-----------------------------------------|
 * | `watched`          | ClusterRole, bound        | one Role and binding a watched namespace |
 * | `own`              | Role in its own namespace | the same                                |
 * | `cluster`          | ClusterRole, bound        | the same                                |
 * | a namespace        | Role in that namespace    | the same                                |
 *
 * A scope nobody asks for leaves no object. Throws on wildcards.
 */
export class OperatorRbac extends Construct {
  readonly #props: OperatorRbacProps;

  constructor(scope: Construct, id: string, props: OperatorRbacProps) {
    super(scope, id);
    this.#props = props;
    this.#grant('own', { word: 'own', namespace: props.namespace });
    this.#grant('cluster', { word: 'cluster' });
    for (const namespace of namedNamespaces(props.permissions))
      this.#grant({ namespace }, { word: 'reader', namespace });
    if (props.watched.kind === 'cluster') this.#grant('watched', { word: 'manager' });
    else for (const namespace of props.watched.names) this.addNamespace(namespace);
  }

  /** Grants what `watched` permissions ask for in one more namespace; a second time changes nothing. Namespaced mode only. */
  addNamespace(namespace: string): void {
    if (this.node.tryFindChild(`watched-${namespace}-role`) === undefined) {
      this.#grant('watched', { word: 'manager', namespace });
    }
  }

  /** A role with every permission of one scope, and its binding; in `namespace`, or cluster-wide without one. */
  #grant(
    scope: Permission['scope'],
    { word, namespace }: { readonly word: string; readonly namespace?: string },
  ): void {
    const { serviceAccountName, prefix, permissions, namespace: ownNamespace } = this.#props;
    const wanted = permissions.filter((permission) => isDeepStrictEqual(permission.scope, scope));
    if (wanted.length === 0) return;
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const of = typeof scope === 'string' ? scope : 'named';
    const id = namespace === undefined ? of : `${of}-${namespace}`;
    const name = `${prefix}-${word}-role`;
    const common = { apiVersion: `${rbac}/v1`, namespace, component };
    platformObject(this, `${id}-role`, {
      ...common,
      kind,
      name,
      annotations: { [whyAnnotation]: reasons(wanted) },
      content: { rules: policyRules(wanted) },
    });
    platformObject(this, `${id}-binding`, {
      ...common,
      kind: `${kind}Binding`,
      name: `${name}binding`,
      content: {
        roleRef: { apiGroup: rbac, kind, name },
        subjects: [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: ownNamespace }],
      },
    });
  }
}

/** The namespaces that permissions name by themselves, each once. */
function namedNamespaces(permissions: readonly Permission[]): readonly string[] {
  const named = permissions.flatMap(({ scope }) => (typeof scope === 'string' ? [] : [scope.namespace]));
  return [...new Set(named)].sort();
}
