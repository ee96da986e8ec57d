/** The admission policy that keeps `rossoctl.io/type` for the operator: enrolment is an AgentRuntime, never a label set by hand. */

import type { Construct } from 'constructs';
import { agentTypes } from '../runtime/api/agent-runtime.ts';
import { labels, nameOfInstance, policies } from '../runtime/api/names.ts';
import { celString } from './cel.ts';
import { type LabelPlace, workloadResources } from './label-places.ts';
import { type OperatorAccount, OperatorLabelPolicy } from './operator-label.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';
import { targetKinds } from './workload-target.ts';

/** Props of `LabelProtection`. */
export interface LabelProtectionProps extends OperatorAccount {
  readonly watched: WatchedNamespaces;
  /** Which of several installs it is. */
  readonly instance: string | undefined;
}

/** Kubernetes' own controllers that copy a template this policy has already checked: what they create, from what, under which user name. */
const copiers = [
  {
    resource: 'replicasets',
    kind: 'ReplicaSet',
    from: 'Deployment',
    account: 'system:serviceaccount:kube-system:deployment-controller',
  },
  { resource: 'jobs', kind: 'Job', from: 'CronJob', account: 'system:serviceaccount:kube-system:cronjob-controller' },
] as const;
type Copier = (typeof copiers)[number];
/** Their user name where the controller manager runs all controllers under one account. */
const controllerManager = 'system:kube-controller-manager';

/**
 * ValidatingAdmissionPolicy `agent-label-protection` (with the instance behind it where there is one) and its binding, on every kind that makes pods from a template.
 * Pods are not covered: controllers copy the label onto them, and a pod without a matching AgentRuntime gets nothing from the
 * webhook (docs/decisions, "Which kinds the label policy covers").
 */
export class LabelProtection extends OperatorLabelPolicy {
  constructor(scope: Construct, id: string, { watched, instance, ...account }: LabelProtectionProps) {
    super(scope, id, account, {
      name: nameOfInstance(policies.labelProtection, instance),
      label: labels.type,
      resources: workloadResources,
      namespaceSelector: watched.late((names) => watched.selector(names)),
      exceptions: [
        { name: 'is-not-a-controller-copying-a-template', expression: `!(${copiers.map(isCopier).join(' || ')})` },
      ],
      message: `${labels.type} is set by the operator alone: create an AgentRuntime`,
      variables: [originsVariable, targetVariable],
      messageAt,
    });
  }
}

function isCopier({ resource, account }: Copier): string {
  const users = [account, controllerManager].map(celString).join(', ');
  return `request.resource.resource == ${celString(resource)} && request.userInfo.username in [${users}]`;
}

const targets = `[${targetKinds.map(({ kind }) => celString(kind)).join(', ')}]`;
const anyTarget = new Intl.ListFormat('en', { type: 'disjunction' }).format(targetKinds.map(({ kind }) => kind));

/** The workload that the object was copied from, where its owner references name one: pods belong to that. */
const originsVariable = {
  name: 'origins',
  expression: `dyn(object).?metadata.?ownerReferences.orValue([]).filter(owner, ${copiers.map(isOrigin).join(' || ')})`,
};

function isOrigin({ kind, from }: Copier): string {
  return `request.kind.kind == ${celString(kind)} && owner.kind == ${celString(from)}`;
}

/** What an AgentRuntime has to name instead: not every kind that makes pods can be enrolled itself. */
const targetVariable = {
  name: 'target',
  expression: [
    'variables.origins.size() > 0',
    ' ? variables.origins[0].kind + " " + variables.origins[0].name + ", which owns this " + request.kind.kind',
    ' + "; where there is one already, leave the label out here"',
    ` : request.kind.kind in ${targets} ? "this " + request.kind.kind`,
    ' : "the workload that owns this " + request.kind.kind',
    ` + "; only a ${anyTarget} can be enrolled, so what nothing owns has to become one of these"`,
  ].join(''),
};

/** Names the value, the place and what to do instead; a value that is no type is not repeated as one. */
function messageAt({ id, where }: LabelPlace): string {
  const asked = `string(variables.${id}[0])`;
  const first = [
    `"the label ${labels.type}=" + ${asked} + " on the ${where} may not be set by hand: create an AgentRuntime`,
    ` with spec.type " + ${type(asked)} + " whose targetRef names " + variables.target`,
  ].join('');
  const changed = [
    `"the label ${labels.type} on the ${where} may not be changed from " + string(variables.${id}Before[0])`,
    ` + " to " + ${asked} + " by hand: set spec.type to " + ${type(asked)} + " in the AgentRuntime whose targetRef names "`,
    ` + variables.target`,
  ].join('');
  return `variables.${id}Before == [] ? ${first} : ${changed}`;
}

/** The type that was asked for, or all there are. */
function type(asked: string): string {
  const known = agentTypes.map(celString).join(', ');
  return `(${asked} in [${known}] ? ${asked} : ${celString(`${agentTypes.join(' or ')} (there is no other type)`)})`;
}
