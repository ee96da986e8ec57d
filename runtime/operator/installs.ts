/** Which installs of the platform a cluster has, and which of them is asked for. */

import type { Deployment, WebhookConfiguration } from '../api/kubernetes.ts';
import { install as names, labels } from '../api/names.ts';
import type { ObjectRef } from '../engine/types.ts';
import { listedNamespaces } from './asked-namespaces.ts';
import { options } from './options.ts';

/** One install, as its webhooks and its operator show it. */
export interface Install {
  /** The operator's own. */
  readonly namespace: string;
  /** Which of several it is; '' for one without an instance. */
  readonly instance: string;
  /** The namespaces that it watches, as far as they are listed; sorted. */
  readonly namespaces: readonly string[];
  /** Its webhook registrations. */
  readonly registrations: readonly ObjectRef[];
  readonly operator: ObjectRef | undefined;
}

/** A registration or Deployment of the platform. */
export type Sign =
  | { readonly ref: ObjectRef; readonly registration: WebhookConfiguration }
  | { readonly ref: ObjectRef; readonly deployment: Deployment };

/** What is said about the install that is meant. */
export interface Asked {
  /** The operator's namespace. */
  readonly namespace?: string | undefined;
  readonly instance?: string | undefined;
  /** The namespaces that it watched, where nothing tells any more. */
  readonly namespaces?: readonly string[] | undefined;
}

/** The install that is meant. */
export interface Chosen {
  readonly namespace: string;
  readonly instance: string;
  /** Where its AgentRuntimes and AgentCards are; undefined: everywhere, since there is no other install. */
  readonly namespaces: readonly string[] | undefined;
  readonly registrations: readonly ObjectRef[];
  readonly operator: ObjectRef | undefined;
  readonly others: readonly Install[];
}

/** It cannot be told which install is meant, or what is its own; `message` says what to add. */
export class ChoiceError extends Error {}

/** What the signs are looked at with. */
export interface Sight {
  /** The operator's namespace of the install that is asked for. */
  readonly own: string;
  /** Namespaces of webhooks' Services that do not exist. */
  readonly gone: readonly string[];
}

/**
 * Installs by the namespaces of their operators. A webhook that is called by URL, or whose Service is gone and that names no instance, is an
 * older install's, and counts to the one that is asked for.
 */
export function installsIn(signs: readonly Sign[], sight: Sight): readonly Install[] {
  const found = new Map<string, Install>();
  for (const sign of signs) {
    const namespace = namespaceOf(sign, sight);
    const before = found.get(namespace) ?? unseen(namespace);
    found.set(namespace, {
      ...before,
      ...('deployment' in sign ? { operator: sign.ref } : { registrations: [...before.registrations, sign.ref] }),
      instance: instanceOf(sign) ?? before.instance,
      namespaces: [...new Set([...before.namespaces, ...listedBy(sign, namespace)])].sort(),
    });
  }
  return [...found.values()];
}

function unseen(namespace: string): Install {
  return { namespace, instance: '', namespaces: [], registrations: [], operator: undefined };
}

function instanceOf(sign: Sign): string | undefined {
  const { metadata } = 'deployment' in sign ? sign.deployment : sign.registration;
  return metadata.labels?.[labels.instance];
}

function namespaceOf(sign: Sign, { own, gone }: Sight): string {
  if ('deployment' in sign) return sign.ref.namespace ?? '';
  const place = serviceNamespace(sign.registration);
  const isOlder = place === undefined || (gone.includes(place) && instanceOf(sign) === undefined);
  return isOlder ? own : place;
}

/** Where the Service of a registration is; undefined: it calls by URL. */
export function serviceNamespace({ webhooks = [] }: WebhookConfiguration): string | undefined {
  return webhooks.map(({ clientConfig }) => clientConfig.service?.namespace).find((each) => each !== undefined);
}

/** The namespaces that a sign says its install watches; an older install's are not those of the one that it counts to. */
function listedBy(sign: Sign, namespace: string): readonly string[] {
  if ('deployment' in sign) return watchedBy(sign.deployment);
  const { registration } = sign;
  return serviceNamespace(registration) === namespace ? (registration.webhooks ?? []).flatMap(listedNamespaces) : [];
}

function watchedBy({ spec }: Deployment): readonly string[] {
  const env = spec.template.spec.containers.flatMap((container) => container.env ?? []);
  const list = env.find(({ name }) => name === options.namespaces.env)?.value ?? '';
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The one of the installs that is asked for, by default the one in the default namespace. Throws `ChoiceError`. */
export function chosenFrom(installs: readonly Install[], asked: Asked): Chosen {
  const namespace = asked.namespace ?? namespaceOfInstance(installs, asked.instance);
  const mine = installs.find((each) => each.namespace === namespace);
  const others = installs.filter((each) => each !== mine);
  if (mine === undefined && others.length > 0 && asked.namespaces === undefined) {
    throw new ChoiceError(
      `nothing is seen of an install in namespace ${namespace}; there is ${others.map(textOf).join(', and ')}. Say which with --namespace, or where it is gone already which namespaces it watched: --namespaces A,B,…`,
    );
  }
  const instance = asked.instance ?? mine?.instance ?? '';
  if (mine !== undefined && instance !== mine.instance) {
    throw new ChoiceError(`--instance ${instance}: what is there is ${textOf(mine)}`);
  }
  const { registrations = [], operator } = mine ?? {};
  const namespaces = asked.namespaces ?? ownNamespaces({ namespace, instance, mine, others });
  return { namespace, instance, namespaces, registrations, operator, others };
}

function namespaceOfInstance(installs: readonly Install[], instance: string | undefined): string {
  if (instance === undefined) return names.namespace;
  const found = installs.filter((each) => each.instance === instance);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first.namespace;
  const seen = first === undefined ? 'nothing is seen of it' : `there is ${found.map(textOf).join(', and ')}`;
  throw new ChoiceError(`--instance ${instance}: ${seen}; say where its operator is or was: --namespace NAME`);
}

/** Without an instance, beside no other, it is the one install of the cluster, and everything is its. */
function ownNamespaces({
  namespace,
  instance,
  mine,
  others,
}: Pick<Chosen, 'namespace' | 'instance' | 'others'> & {
  readonly mine: Install | undefined;
}): readonly string[] | undefined {
  if (others.length === 0 && instance === '') return undefined;
  const foreign = others.flatMap((each) => each.namespaces);
  const own = (mine?.namespaces ?? []).filter((name) => !foreign.includes(name));
  if (own.length > 0) return own;
  throw new ChoiceError(
    `which namespaces are those of the install in ${namespace} cannot be told: name them with --namespaces A,B,…`,
  );
}

/** `one in blue-system (instance blue)`. */
export function textOf({ namespace, instance }: Pick<Install, 'namespace' | 'instance'>): string {
  return `one in ${namespace}${instance === '' ? '' : ` (instance ${instance})`}`;
}
