/** What RBAC cannot say: a tenant's identity is the platform's choice, though its developers write ConfigMaps and AgentRuntimes. */

import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';

/** Whose namespaces, and who keeps them. */
export interface TenantBoundaryProps {
  /** Namespaces of all tenants. */
  readonly namespaces: readonly string[];
  /** The platform's operator. */
  readonly operator: { readonly namespace: string; readonly serviceAccountName: string };
}

/** One admission policy. */
interface Boundary {
  readonly name: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** CEL: which requests are looked at. */
  readonly when: string;
  /** CEL, each with what is said when it does not hold. */
  readonly rules: readonly (readonly [expression: string, message: string])[];
}

const hasDefaultsLabel = (object: string) =>
  `${object} != null && dyn(${object}).?metadata.?labels[?"rossoctl.io/defaults"].hasValue()`;
/** Not `request.name`, which is empty where a whole collection is deleted. */
const isNamed = (name: string) => `(object != null ? object : oldObject).metadata.name == "${name}"`;

/** Administrators and what deploys the platform may, and so may the controller that empties a deleted namespace. */
const mayDeleteNamespace =
  'authorizer.group("").resource("namespaces").name(request.namespace).check("delete").allowed()';

const boundariesOf = ({ operator }: TenantBoundaryProps): readonly Boundary[] => [
  {
    // Kubernetes' `edit` lets developers write every ConfigMap; the label alone makes one the namespace's defaults.
    name: 'tenant-defaults',
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'configmaps',
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
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'configmaps',
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
    apiGroup: 'agent.rossoctl.dev',
    apiVersion: 'v1alpha1',
    resource: 'agentruntimes',
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

const api = 'admissionregistration.k8s.io';

/** Three ValidatingAdmissionPolicies over the namespaces of all tenants. */
export class TenantBoundary extends Construct {
  constructor(scope: Construct, id: string, props: TenantBoundaryProps) {
    super(scope, id);
    for (const { name, apiGroup, apiVersion, resource, operations, when, rules } of boundariesOf(props)) {
      this.#object('ValidatingAdmissionPolicy', name, {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: {
            matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: props.namespaces }],
          },
          resourceRules: [
            {
              apiGroups: [apiGroup],
              apiVersions: [apiVersion],
              operations,
              resources: [resource],
              scope: 'Namespaced',
            },
          ],
        },
        matchConditions: [{ name: 'concerns-the-platform', expression: when }],
        validations: rules.map(([expression, message]) => ({ expression, message, reason: 'Forbidden' })),
      });
      this.#object('ValidatingAdmissionPolicyBinding', name, { policyName: name, validationActions: ['Deny'] });
    }
  }

  #object(kind: string, name: string, spec: unknown): void {
    new ApiObject(this, `${kind}-${name}`, { apiVersion: `${api}/v1`, kind, metadata: { name }, spec });
  }
}
