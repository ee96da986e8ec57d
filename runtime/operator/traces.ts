/** What an install leaves in a cluster besides its manifests, found by what it is and not by who made it. */

import { kinds } from '../api/kinds.ts';
import type { Deployment, WebhookConfiguration } from '../api/kubernetes.ts';
import { install, nameOfInstance, operatorPodLabels, policies, webhooks } from '../api/names.ts';
import type { Client } from '../engine/client.ts';
import { isNotFound } from '../engine/errors.ts';
import type { Kind, KubeObject, ObjectKey, ObjectRef } from '../engine/types.ts';
import { isMadeByOperator } from '../network-policy/ownership.ts';
import {
  type Asked,
  type Chosen,
  chosenFrom,
  type Install,
  installsIn,
  serviceNamespace,
  type Sign,
} from './installs.ts';

/** All of it. */
export interface Traces {
  /** Webhook registrations and admission policies, which refuse changes or wait for the operator. */
  readonly gates: readonly ObjectRef[];
  readonly operators: readonly ObjectRef[];
  /** AgentRuntimes and AgentCards, whose finalizers want an operator. */
  readonly resources: readonly ObjectRef[];
  readonly networkPolicies: readonly ObjectRef[];
  /** Whose it is. */
  readonly install: Chosen;
}

/** Namespaces to look in; undefined: all. */
type Namespaces = readonly string[] | undefined;

const policyGroup = 'admissionregistration.k8s.io/v1';
const policyKind: Kind = {
  apiVersion: policyGroup,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  namespaced: false,
};
const bindingKind: Kind = {
  apiVersion: policyGroup,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  namespaced: false,
};
interface ClusterRoleBinding extends KubeObject {
  readonly subjects?: readonly { readonly namespace?: string; readonly name: string }[];
}
const clusterRoleBindingKind: Kind<ClusterRoleBinding> = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

/**
 * Of the install that is asked for: `namespace` is the operator’s own, which may be gone, as may be every kind of ours. Throws `ChoiceError`
 * where it cannot be told from others.
 */
export async function tracesIn(
  client: Client,
  namespace?: string,
  more: Omit<Asked, 'namespace'> = {},
): Promise<Traces> {
  const asked = { ...more, namespace };
  const [installs, bindings, admissionPolicies] = await Promise.all([
    installsFor(client, asked),
    all(client, bindingKind),
    all(client, policyKind),
  ]);
  const chosen = chosenFrom(installs, asked);
  const ours = policiesOf(chosen);
  const isOurs = ({ metadata: { name = '' } }: KubeObject) => ours.includes(name);
  return {
    gates: [
      ...chosen.registrations,
      ...bindings.filter(isOurs).map(ref(bindingKind)),
      ...admissionPolicies.filter(isOurs).map(ref(policyKind)),
    ],
    operators: chosen.operators,
    resources: await resourcesIn(client, chosen.namespaces),
    networkPolicies: await networkPoliciesIn(client, chosen.namespaces),
    install: chosen,
  };
}

/** What installs share stays as long as there is another. */
function policiesOf({ instances, others }: Chosen): readonly string[] {
  const own = instances.filter((instance) => !others.some((other) => other.instances.includes(instance)));
  return [
    ...own.map((instance) => nameOfInstance(policies.labelProtection, instance)),
    ...(others.length > 0 ? [] : [policies.signatureProtection]),
  ];
}

/** Every install of which a webhook or an operator is there. */
async function installsFor(client: Client, asked: Asked): Promise<readonly Install[]> {
  const own = asked.namespace ?? install.namespace;
  const [mutating, validating, operators] = await Promise.all([
    all(client, kinds.mutatingWebhookConfiguration),
    all(client, kinds.validatingWebhookConfiguration),
    operatorsIn(client, own),
  ]);
  const registrations = [
    ...mutating.filter(isOurWebhook).map(registered(kinds.mutatingWebhookConfiguration)),
    ...validating.filter(isOurWebhook).map(registered(kinds.validatingWebhookConfiguration)),
  ];
  const places = new Set(registrations.flatMap(({ registration }) => serviceNamespace(registration) ?? []));
  for (const { ref: operator } of operators) places.delete(operator.namespace ?? '');
  const service = install.webhookService;
  const services = await Promise.all(
    [...places].map(async (namespace) => ({
      namespace,
      object: await found(client, kinds.service, { namespace, name: service }),
    })),
  );
  const gone = services.filter(({ object }) => object === undefined).map(({ namespace }) => namespace);
  return installsIn([...registrations, ...operators], { own, instance: asked.instance, gone });
}

const registered = (kind: Kind) => (registration: WebhookConfiguration) => ({
  ref: refOf(kind, registration),
  registration,
});

/**
 * By their labels, and in the asked namespace also by the name alone. Anybody may label a Deployment in a namespace of their own and have it
 * look like an install that is to be kept: elsewhere one counts only whose account has the cluster-wide role of an operator.
 */
async function operatorsIn(
  client: Client,
  own: string,
): Promise<readonly (Sign & { readonly deployment: Deployment })[]> {
  const pairs = Object.entries(operatorPodLabels).map(([key, value]) => `${key}=${value}`);
  const [labelled, named, bindings] = await Promise.all([
    all(client, kinds.deployment, { labels: pairs.join(',') }),
    found(client, kinds.deployment, { namespace: own, name: install.deployment }),
    all(client, clusterRoleBindingKind, {
      labels: `app.kubernetes.io/name=${operatorPodLabels['app.kubernetes.io/name']}`,
    }),
  ]);
  const accounts = bindings.flatMap(({ subjects = [] }) =>
    subjects.map(({ namespace, name }) => `${namespace}/${name}`),
  );
  const isTrusted = ({ metadata: { namespace }, spec }: Deployment) =>
    namespace === own || accounts.includes(`${namespace}/${spec.template.spec.serviceAccountName ?? ''}`);
  const isNamed = ({ metadata: { uid } }: Deployment) => uid === named?.metadata.uid;
  const every = [
    ...(named === undefined ? [] : [named]),
    ...labelled.filter((each) => isTrusted(each) && !isNamed(each)),
  ];
  return every.map((deployment) => ({ ref: refOf(kinds.deployment, deployment), deployment }));
}

/** See `Traces.resources`. */
export async function resourcesIn(client: Client, namespaces?: Namespaces): Promise<readonly ObjectRef[]> {
  const [runtimes, cards] = await Promise.all([all(client, kinds.agentRuntime), all(client, kinds.agentCard)]);
  const refs = [...runtimes.map(ref(kinds.agentRuntime)), ...cards.map(ref(kinds.agentCard))];
  return refs.filter((each) => isIn(each, namespaces));
}

/** See `Traces.networkPolicies`. */
export async function networkPoliciesIn(client: Client, namespaces?: Namespaces): Promise<readonly ObjectRef[]> {
  const made = (await all(client, kinds.networkPolicy)).filter(isMadeByOperator);
  const refs = made.map(ref(kinds.networkPolicy));
  return refs.filter((each) => isIn(each, namespaces));
}

function isIn({ namespace = '' }: ObjectRef, namespaces: Namespaces): boolean {
  return namespaces === undefined || namespaces.includes(namespace);
}

/** By the names of the webhooks in it: an older install may have called the object otherwise. */
function isOurWebhook({ webhooks: entries = [] }: WebhookConfiguration): boolean {
  const names = Object.values(webhooks).map(({ name }): string => name);
  return entries.some(({ name }) => names.includes(name));
}

async function found<T extends KubeObject>(client: Client, kind: Kind<T>, key: ObjectKey): Promise<T | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A kind that the cluster does not have, or has no more, has no objects. */
async function all<T extends KubeObject>(client: Client, kind: Kind<T>, more: { readonly labels?: string } = {}) {
  try {
    return (await client.list(kind, more)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

const ref = (kind: Kind) => (object: KubeObject) => refOf(kind, object);

function refOf(kind: Kind, { metadata }: KubeObject): ObjectRef {
  const { namespace, name = '', uid } = metadata;
  return { kind, namespace, name, uid };
}

export async function removeAll(
  client: Client,
  refs: readonly ObjectRef[],
  report: (line: string) => void,
): Promise<void> {
  for (const ref of refs) {
    await remove(client, ref);
    report(`${textOf(ref)} deleted`);
  }
}

export async function remove(client: Client, ref: ObjectRef): Promise<void> {
  try {
    await client.remove(ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** `NetworkPolicy team1/weather-signature-policy`. */
export function textOf({ kind: { kind }, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
