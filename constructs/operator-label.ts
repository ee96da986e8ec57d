/** An admission policy that keeps one label for the operator's account: the shape that all such policies share. */

import { type ApiObject, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { hasKey, isNoneOf, valueAt } from './cel.ts';
import { type LabelPlace, labelPlaces, type ProtectedResources } from './label-places.ts';
import { platformObject } from './platform-objects.ts';

/** Whose label it is: the account of an operator. */
export interface OperatorAccount {
  /** Namespace of the account, which is the operator's own. */
  readonly namespace: string;
  /** Name of the account. */
  readonly serviceAccountName: string;
}

/** What one policy differs in from another. */
export interface OperatorLabel {
  /** Name of the policy and its binding. */
  readonly name: string;
  readonly label: string;
  readonly resources: readonly ProtectedResources[];
  /** A label selector of namespaces; `{}` for all. */
  readonly namespaceSelector: unknown;
  /** Whose label it is too; asked at synthesis, when every one of them is known. */
  readonly alsoOf?: () => readonly OperatorAccount[];
  /** Who else may set it, as further match conditions. */
  readonly exceptions?: readonly { readonly name: string; readonly expression: string }[];
  /** More variables of the policy, for the sentence. */
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  /** Short and fixed, for where no expression can be shown. */
  readonly message: string;
  /** A CEL expression of the sentence that names value, place and remedy; it may use the variables `<id>`, `<id>Before` and its own. */
  messageAt(place: LabelPlace): string;
}

const api = 'admissionregistration.k8s.io/v1';
const component = 'label-protection';

/**
 * A ValidatingAdmissionPolicy and its binding. Allowed: a value that does not change, removal, and the operator's own account (or those of several).
 * Everything else is refused, in metadata and templates, by whatever verb writes it (create, update, patch, server-side apply, status).
 */
export abstract class OperatorLabelPolicy extends Construct {
  readonly policy: ApiObject;
  readonly binding: ApiObject;

  protected constructor(scope: Construct, id: string, account: OperatorAccount, label: OperatorLabel) {
    super(scope, id);
    const { name } = label;
    this.policy = platformObject(this, 'policy', {
      apiVersion: api,
      kind: 'ValidatingAdmissionPolicy',
      name,
      component,
      content: { spec: policySpec(account, label) },
    });
    this.binding = platformObject(this, 'binding', {
      apiVersion: api,
      kind: 'ValidatingAdmissionPolicyBinding',
      name,
      component,
      content: { spec: { policyName: name, validationActions: ['Deny'] } },
    });
    this.binding.addDependency(this.policy);
  }
}

function policySpec(account: OperatorAccount, policy: OperatorLabel): Readonly<Record<string, unknown>> {
  const { label, resources, namespaceSelector, exceptions = [], variables = [], message } = policy;
  return {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector,
      resourceRules: resources.map((group) => ({
        apiGroups: [group.apiGroup],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: group.resources,
        scope: 'Namespaced',
      })),
    },
    matchConditions: [
      { name: 'carries-the-label', expression: labelPlaces.map(({ path }) => hasKey(path, label)).join(' || ') },
      { name: 'is-not-the-operator', expression: isNoOperator(account, policy) },
      ...exceptions,
    ],
    variables: [
      ...labelPlaces.flatMap(({ id, path }) => [
        { name: id, expression: valueAt('object', path, label) },
        { name: `${id}Before`, expression: `oldObject == null ? [] : ${valueAt('oldObject', path, label)}` },
      ]),
      ...variables,
    ],
    validations: labelPlaces.map((place) => ({
      expression: `variables.${place.id} == [] || variables.${place.id} == variables.${place.id}Before`,
      messageExpression: policy.messageAt(place),
      message,
      reason: 'Forbidden',
    })),
  };
}

/** Lists each account once, whoever names it. */
function isNoOperator(account: OperatorAccount, { alsoOf = () => [] }: OperatorLabel): string {
  const produce = () => {
    const all = [account, ...alsoOf()].map((each) => ({ namespace: each.namespace, name: each.serviceAccountName }));
    return isNoneOf([...new Map(all.map((each) => [`${each.namespace}/${each.name}`, each])).values()]);
  };
  return Lazy.any({ produce }) as string;
}
