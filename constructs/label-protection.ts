/** The admission policy that keeps `rossoctl.io/type` for the operator: enrolment is an AgentRuntime, never a label set by hand. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { labels, policies } from '../runtime/api/names.ts';
import { labelPlaces, protectedResources } from './label-places.ts';
import { platformObject } from './platform-objects.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';

/** Props of `LabelProtection`. */
export interface LabelProtectionProps {
  /** The operator's namespace and account: the only ones who may set the label. */
  readonly namespace: string;
  readonly serviceAccountName: string;
  readonly watched: WatchedNamespaces;
}

/** Kubernetes' own controllers that copy a template this policy has already checked: resource they create → their user names. */
const copiers: readonly { readonly resource: string; readonly account: string }[] = [
  { resource: 'replicasets', account: 'system:serviceaccount:kube-system:deployment-controller' },
  { resource: 'jobs', account: 'system:serviceaccount:kube-system:cronjob-controller' },
];
/** Their user name where the controller manager runs all controllers under one account. */
const controllerManager = 'system:kube-controller-manager';

const api = 'admissionregistration.k8s.io/v1';
const component = 'label-protection';
const quoted = JSON.stringify(labels.type);

/** A list with the label's value at one place of `object`, or an empty list; no access can fail (field report VP-01). */
function valueAt(object: 'object' | 'oldObject', path: readonly string[]): string {
  return `dyn(${object}).?${path.join('.?')}[?${quoted}].optMap(value, [value]).orValue([])`;
}

/**
 * ValidatingAdmissionPolicy `agent-label-protection` and its binding (rulings, Admission policy).
 *
 * Allowed: a value that does not change, removal, and the operator's own account. Everything else on a protected kind is refused,
 * in its metadata and in its templates, by whatever verb writes it (create, update, patch, server-side apply, status).
 * Pods are not covered: controllers copy the label onto them, and a pod without a matching AgentRuntime gets nothing from the
 * webhook (docs/decisions, "Which kinds the label policy covers").
 */
export class LabelProtection extends Construct {
  readonly policy: ApiObject;
  readonly binding: ApiObject;

  constructor(scope: Construct, id: string, props: LabelProtectionProps) {
    super(scope, id);
    const name = policies.labelProtection;
    this.policy = platformObject(this, 'policy', {
      apiVersion: api,
      kind: 'ValidatingAdmissionPolicy',
      name,
      component,
      content: { spec: policySpec(props) },
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

type Json = Readonly<Record<string, unknown>>;

function policySpec({ namespace, serviceAccountName, watched }: LabelProtectionProps): Json {
  return {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: watched.late((names) => watched.selector(names)),
      resourceRules: protectedResources.map(({ apiGroup, resources }) => ({
        apiGroups: [apiGroup],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: resources.flatMap((resource) => [resource, `${resource}/status`]),
        scope: 'Namespaced',
      })),
    },
    matchConditions: [
      { name: 'carries-the-label', expression: labelPlaces.map(({ path }) => isAt(path)).join(' || ') },
      {
        name: 'is-not-the-operator',
        expression: `request.userInfo.username != "system:serviceaccount:${namespace}:${serviceAccountName}"`,
      },
      { name: 'is-not-a-controller-copying-a-template', expression: `!(${copiers.map(isCopier).join(' || ')})` },
    ],
    variables: labelPlaces.flatMap(({ id, path }) => [
      { name: id, expression: valueAt('object', path) },
      { name: `${id}Before`, expression: `oldObject == null ? [] : ${valueAt('oldObject', path)}` },
    ]),
    validations: labelPlaces.map(({ id, where }) => ({
      expression: `variables.${id} == [] || variables.${id} == variables.${id}Before`,
      messageExpression: message(id, where),
      message: `${labels.type} is set by the operator alone: create an AgentRuntime`,
      reason: 'Forbidden',
    })),
  };
}

function isAt(path: readonly string[]): string {
  return `dyn(object).?${path.join('.?')}[?${quoted}].hasValue()`;
}

function isCopier({ resource, account }: { readonly resource: string; readonly account: string }): string {
  return `request.resource.resource == "${resource}" && request.userInfo.username in ["${account}", "${controllerManager}"]`;
}

/** Names the value, the place and what to do instead. */
function message(id: string, where: string): string {
  const asked = `string(variables.${id}[0])`;
  const first = [
    `"the label ${labels.type}=" + ${asked} + " on the ${where} may not be set by hand: create an AgentRuntime`,
    ` with spec.type " + ${asked} + " whose targetRef names this " + request.kind.kind`,
  ].join('');
  const changed = [
    `"the label ${labels.type} on the ${where} may not be changed from " + string(variables.${id}Before[0])`,
    ` + " to " + ${asked} + " by hand: change spec.type of the AgentRuntime whose targetRef names this " + request.kind.kind`,
  ].join('');
  return `variables.${id}Before == [] ? ${first} : ${changed}`;
}
