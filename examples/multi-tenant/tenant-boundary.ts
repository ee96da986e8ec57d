/** What RBAC cannot say: a tenant's identity is the platform's choice, though its developers write ConfigMaps and AgentRuntimes, and so is the node. */

import { Construct } from 'constructs';
import { Boundary, type BoundaryProps } from './boundary.ts';
import { podBoundaries, type TenantPodsProps } from './tenant-pods.ts';

/** Whose namespaces, who keeps them, and what pods may have. */
export interface TenantBoundaryProps extends TenantPodsProps {
  /** Namespaces of all tenants. */
  readonly namespaces: readonly string[];
  /** The platform's operator. */
  readonly operator: { readonly namespace: string; readonly serviceAccountName: string };
}

const hasDefaultsLabel = (object: string) =>
  `${object} != null && dyn(${object}).?metadata.?labels[?"rossoctl.io/defaults"].hasValue()`;
/** Not `request.name`, which is empty where a whole collection is deleted. */
const isNamed = (name: string) => `(object != null ? object : oldObject).metadata.name == "${name}"`;

/** Administrators and what deploys the platform may, and so may the controller that empties a deleted namespace. */
const mayDeleteNamespace =
  'authorizer.group("").resource("namespaces").name(request.namespace).check("delete").allowed()';

const identityBoundaries = ({ operator }: TenantBoundaryProps): readonly BoundaryProps[] => [
  {
    // Kubernetes' `edit` lets developers write every ConfigMap; the label alone makes one the namespace's defaults.
    name: 'tenant-defaults',
    subjects: [{ apiGroup: '', apiVersion: 'v1', resources: ['configmaps'] }],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    when: `(${hasDefaultsLabel('object')}) || (${hasDefaultsLabel('oldObject')})`,
    rules: [
      [
        mayDeleteNamespace,
        'ConfigMaps labelled rossoctl.io/defaults are the platform team’s in a tenant’s namespace: ask them, or leave the label out',
      ],
    ],
  },
  {
    // The injected sidecars read their settings from it, so that whoever writes it chooses what the defaults say.
    name: 'tenant-settings',
    subjects: [{ apiGroup: '', apiVersion: 'v1', resources: ['configmaps'] }],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    when: isNamed('rossoctl-authbridge-config'),
    rules: [
      [
        `request.userInfo.username == "system:serviceaccount:${operator.namespace}:${operator.serviceAccountName}" || ${mayDeleteNamespace}`,
        'the ConfigMap rossoctl-authbridge-config is the operator’s: it holds what injected sidecars are told; choose another name',
      ],
    ],
  },
  {
    // An AgentRuntime overrides its namespace's defaults.
    name: 'tenant-identity',
    subjects: [{ apiGroup: 'agent.rossoctl.dev', apiVersion: 'v1alpha1', resources: ['agentruntimes'] }],
    operations: ['CREATE', 'UPDATE'],
    // What was there before the policy can still be labelled, and let go of.
    when: 'oldObject == null || object.spec != oldObject.spec',
    rules: [
      [
        '!object.spec.?identity.?spiffe.hasValue()',
        'spec.identity.spiffe: a tenant’s trust domain is the platform team’s choice: leave it out',
      ],
      [
        '!object.spec.?identity.?clientRegistration.hasValue()',
        'spec.identity.clientRegistration: where a tenant’s agents are registered is the platform team’s choice: leave it out',
      ],
    ],
  },
];

/** Five ValidatingAdmissionPolicies over the namespaces of all tenants. */
export class TenantBoundary extends Construct {
  constructor(scope: Construct, id: string, props: TenantBoundaryProps) {
    super(scope, id);
    for (const boundary of [...identityBoundaries(props), ...podBoundaries(props)]) {
      new Boundary(this, props.namespaces, boundary);
    }
  }
}
