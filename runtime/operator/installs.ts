/** Which installs of the platform a cluster has, and which of them is asked for. */

import type { Deployment, WebhookConfiguration } from '../api/kubernetes.ts';
import { install as names, instanceOfRegistration } from '../api/names.ts';
import type { ObjectRef } from '../engine/types.ts';
import { listedNamespaces } from './asked-namespaces.ts';
import type { Option } from './option-values.ts';
import { options } from './options.ts';

/** One install, as its webhooks and its operator show it. */
export interface Install {
  /** The operator's own; '' where nothing tells. */
  readonly namespace: string;
  /** Which of several it is; '' for one without an instance. */
  readonly instance: string;
  /** Every instance that its parts are of: more than one after it was given another, until what is left of the former is gone. */
  readonly instances: readonly string[];
  /** The namespaces that it watches, as far as they are listed; sorted. */
  readonly namespaces: readonly string[];
  /** It is there, and watches every namespace. */
  readonly isEverywhere: boolean;
  /** Its webhook registrations. */
  readonly registrations: readonly ObjectRef[];
  /** Deployments of its operator: one, or two after it was given another name. */
  readonly operators: readonly ObjectRef[];
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
export interface Chosen extends Omit<Install, 'namespaces'> {
  /** Where its AgentRuntimes and AgentCards are; undefined: everywhere, since there is no other install. */
  readonly namespaces: readonly string[] | undefined;
  readonly others: readonly Install[];
}

/** It cannot be told which install is meant, or what is its own; `message` says what to add. */
export class ChoiceError extends Error {}

/** What the signs are looked at with. */
export interface Sight {
  /** The operator's namespace of the install that is asked for. */
  readonly own: string;
  /** Which instance that is, where it is said. */
  readonly instance?: string | undefined;
  /** Namespaces of webhooks' Services that do not exist. */
  readonly gone: readonly string[];
}

/**
 * Installs by the namespaces of their operators. A webhook that is called by URL, or whose Service is gone, and that is of no instance, is an
 * older install's, and counts to the one that is asked for unless that is an instance: beside an instance it may be a neighbour's.
 */
export function installsIn(signs: readonly Sign[], sight: Sight): readonly Install[] {
  const instance = sight.instance ?? newestInstance(signs.filter((sign) => placeOf(sign) === sight.own));
  const byPlace = Map.groupBy(signs, (sign) => hostOf(sign, { ...sight, instance }));
  return [...byPlace].map(([namespace, its]) => installOf(namespace, its, sight.gone));
}

function installOf(namespace: string, signs: readonly Sign[], gone: readonly string[]): Install {
  const refs = (isMeant: (sign: Sign) => boolean) => signs.filter(isMeant).map(({ ref }) => ref);
  // What an older install watched is not what the one watches that it counts to.
  const own = signs.filter((sign) => placeOf(sign) === namespace);
  return {
    namespace,
    instance: newestInstance(signs),
    instances: [...new Set(signs.map((sign) => instanceOf(sign) ?? ''))].sort(),
    namespaces: [...new Set(own.flatMap(listedBy))].sort(),
    isEverywhere: !gone.includes(namespace) && own.some((sign) => listedBy(sign).length === 0),
    registrations: refs((sign) => 'registration' in sign),
    operators: refs((sign) => 'deployment' in sign),
  };
}

/** What its operator says it is; without one the instance in its registrations' names, '' where none has one. */
function newestInstance(signs: readonly Sign[]): string {
  const said = signs.find((sign) => 'deployment' in sign) ?? signs.find((sign) => (instanceOf(sign) ?? '') !== '');
  return (said === undefined ? undefined : instanceOf(said)) ?? '';
}

/** Undefined: a registration of some other name, as an older install may have given it. No label is asked, since other tools set theirs. */
function instanceOf(sign: Sign): string | undefined {
  if ('deployment' in sign) return given(sign.deployment, options.instance);
  return instanceOfRegistration(sign.registration.metadata.name ?? '');
}

/** Where the operator of a sign is, or would be; undefined: it calls by URL. */
function placeOf(sign: Sign): string | undefined {
  return 'deployment' in sign ? sign.ref.namespace : serviceNamespace(sign.registration);
}

/** The namespace of the install that a sign counts to. */
function hostOf(sign: Sign, { own, instance = '', gone }: Sight): string {
  const place = placeOf(sign);
  if (place !== undefined && ('deployment' in sign || !gone.includes(place))) return place;
  const its = instanceOf(sign) ?? '';
  const isOwn = its === instance && (its === '' || place === undefined);
  return isOwn ? own : (place ?? '');
}

/** Where the Service of a registration is; undefined: it calls by URL. */
export function serviceNamespace({ webhooks = [] }: WebhookConfiguration): string | undefined {
  return webhooks.map(({ clientConfig }) => clientConfig.service?.namespace).find((each) => each !== undefined);
}

/** The namespaces that a sign says its install watches; none: all. */
function listedBy(sign: Sign): readonly string[] {
  if ('deployment' in sign) return listed(given(sign.deployment, options.namespaces) ?? '');
  return (sign.registration.webhooks ?? []).flatMap(listedNamespaces);
}

function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The value of an option in the Deployment of an operator: of its flag, else of its variable. */
function given({ spec }: Deployment, { flag, env }: Option<unknown>): string | undefined {
  const { containers } = spec.template.spec;
  const args = containers.flatMap((container) => [...(container.command ?? []), ...(container.args ?? [])]);
  const at = args.findIndex((arg) => arg === `--${flag}` || arg.startsWith(`--${flag}=`));
  const found = args[at];
  if (found !== undefined) return found.includes('=') ? found.slice(found.indexOf('=') + 1) : args[at + 1];
  return containers.flatMap((container) => container.env ?? []).find(({ name }) => name === env)?.value;
}

/** The one of the installs that is asked for, by default the one in the default namespace. Throws `ChoiceError`. */
export function chosenFrom(installs: readonly Install[], asked: Asked): Chosen {
  const namespace = asked.namespace ?? namespaceOfInstance(installs, asked.instance);
  const seen = installs.find((each) => each.namespace === namespace);
  const others = installs.filter((each) => each !== seen);
  if (seen === undefined && others.length > 0 && asked.namespaces === undefined) {
    throw new ChoiceError(
      `nothing is seen of an install in namespace ${namespace}; there is ${others.map(textOf).join(', and ')}. Say which with --namespace, or where it is gone already which namespaces it watched: --namespaces A,B,…`,
    );
  }
  const mine = seen ?? unseen(namespace, asked.instance);
  const instance = asked.instance ?? mine.instance;
  if (!mine.instances.includes(instance)) {
    throw new ChoiceError(`--instance ${instance}: what is there is ${textOf(mine)}`);
  }
  refuseForeign(asked.namespaces ?? [], others);
  const namespaces = asked.namespaces ?? ownNamespaces({ ...mine, instance, others });
  return { ...mine, instance, namespaces, others };
}

function unseen(namespace: string, instance = ''): Install {
  return {
    namespace,
    instance,
    instances: [instance],
    namespaces: [],
    isEverywhere: false,
    registrations: [],
    operators: [],
  };
}

/** What is in a namespace that another install watches is that one's. */
function refuseForeign(namespaces: readonly string[], others: readonly Install[]): void {
  for (const other of others) {
    const both = namespaces.filter((name) => isWatchedBy(name, other));
    if (both.length === 0) continue;
    throw new ChoiceError(
      `--namespaces ${both.join()}: watched by ${textOf(other)}: leave out what is not this install's`,
    );
  }
}

const isWatchedBy = (name: string, { namespaces, isEverywhere }: Install): boolean =>
  isEverywhere || namespaces.includes(name);

function namespaceOfInstance(installs: readonly Install[], instance: string | undefined): string {
  if (instance === undefined) return names.namespace;
  const found = installs.filter((each) => each.instances.includes(instance));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first.namespace;
  const seen = first === undefined ? 'nothing is seen of it' : `there is ${found.map(textOf).join(', and ')}`;
  throw new ChoiceError(`--instance ${instance}: ${seen}; say where its operator is or was: --namespace NAME`);
}

/**
 * Without an instance, beside no other, it is the one install of the cluster, and everything is its. None where others have taken over all that
 * it watches.
 */
function ownNamespaces({
  namespace,
  instance,
  namespaces,
  others,
}: Install & Pick<Chosen, 'others'>): Chosen['namespaces'] {
  if (others.length === 0 && instance === '') return undefined;
  if (namespaces.length > 0) return namespaces.filter((name) => !others.some((other) => isWatchedBy(name, other)));
  throw new ChoiceError(
    `which namespaces are those of the install in ${namespace} cannot be told: name them with --namespaces A,B,…`,
  );
}

/** `one in blue-system (instance blue)`. */
export function textOf({ namespace, instance }: Pick<Install, 'namespace' | 'instance'>): string {
  const place = namespace === '' ? 'one that is called by URL' : `one in ${namespace}`;
  return `${place}${instance === '' ? '' : ` (instance ${instance})`}`;
}
