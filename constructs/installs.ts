/** Several installs of the platform in one cluster: what one must say for that, and what two of an app may not share. */

import { Type } from 'typebox';
import { install as names, instancePattern } from '../runtime/api/names.ts';
import { oneOf } from '../runtime/api/schema.ts';
import type { Violation } from '../runtime/config/violation.ts';
import type { OperatorAccount } from './operator-label.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';

const optional = Type.Optional;

/** A row a prop. */
export const installSchemas = {
  instance: optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      pattern: instancePattern,
      description: 'Name of an install, of at most 32 lower-case letters, digits and dashes, for example blue.',
    }),
  ),
  crds: optional(oneOf(['install', 'shared'])),
  operators: optional(
    Type.Array(Type.Object({ namespace: NamespaceName, serviceAccountName: ObjectName }), { maxItems: 256 }),
  ),
} as const;

/** The props that say how an install stands beside others. */
export interface InstallProps {
  readonly instance?: string | undefined;
  readonly crds?: 'install' | 'shared' | undefined;
  readonly operators?: readonly OperatorAccount[] | undefined;
  readonly serviceAccountName?: string | undefined;
}

/** What props of the right shape can still get wrong together. `namespaced` is how listed namespaces are asked for. */
export function installViolations(
  { instance, crds, operators, serviceAccountName }: InstallProps,
  kind: 'cluster' | 'namespaced',
  namespaced: string,
): readonly Violation[] {
  if (kind === 'cluster') {
    const given = { instance, crds: crds === 'shared' ? crds : undefined, operators };
    const unfit = Object.entries(given).filter(([, value]) => value !== undefined);
    const why = 'is for one install of several, and one that watches every namespace is the only one of its cluster';
    return unfit.map(([path]) => ({ path, message: `${why}: ${namespaced}, or leave ${path} out` }));
  }
  const account = instance === undefined ? accountOfInstance(serviceAccountName) : [];
  if (crds !== 'shared' || operators === undefined) return [...account, ...unnamed(operators ?? [])];
  const message = `says nothing beside crds: shared: list them at the install that has crds: install, or leave operators out`;
  return [...account, { path: 'operators', message }];
}

/** Cluster-wide roles begin with the account's name, or with the instance: the two must not read the same. */
function accountOfInstance(name = ''): readonly Violation[] {
  const prefix = `${names.serviceAccount}-`;
  if (!name.startsWith(prefix)) return [];
  const other = name.slice(prefix.length);
  const message = `${name} is what an install with the instance ${other} is called, whose cluster-wide roles this one would overwrite: set instance: ${other}, or choose an account that does not begin with ${prefix}`;
  return [{ path: 'serviceAccountName', message }];
}

/** A list's entries say both, also where nobody checks types. */
function unnamed(operators: readonly Partial<OperatorAccount>[]): readonly Violation[] {
  return operators.flatMap((operator, index) =>
    (['namespace', 'serviceAccountName'] as const)
      .filter((key) => operator[key] === undefined)
      .map((key) => ({
        path: `operators[${index}].${key}`,
        message: 'is missing; an account has a name and a namespace',
      })),
  );
}

/** An install as another one of its app sees it. */
export interface Install extends OperatorAccount {
  /** Path of its construct. */
  readonly path: string;
  readonly instance: string | undefined;
  readonly crds: 'install' | 'shared';
  readonly watched: WatchedNamespaces;
}

/** Why two installs of an app cannot be in one cluster; each sentence ends with the remedy. */
export function rivalries(own: Install, other: Install): readonly string[] {
  const it = `the AgentPlatform at ${other.path}`;
  if ([own, other].some(({ watched }) => watched.kind === 'cluster')) {
    return [
      `the app already has an AgentPlatform at ${other.path}: a cluster has one that watches every namespace, or several with namespaces of their own; make an app a cluster, or set watch: { kind: 'namespaced', namespaces: […] } and another instance on each`,
    ];
  }
  const both = placesOf(own).filter((name) => placesOf(other).includes(name));
  const called = own.instance === undefined ? 'no instance' : `the instance ${own.instance}`;
  return [
    ...(own.instance === other.instance ? [`instance: ${it} has ${called} too: give each another`] : []),
    ...both.map((name) => shared(name, own, other, it)),
    ...(own.crds === 'install' && other.crds === 'install'
      ? [`crds: ${it} installs the CustomResourceDefinitions already: set crds: 'shared' on all but one`]
      : []),
  ];
}

function placesOf({ namespace, watched }: Install): readonly string[] {
  return [namespace, ...watched.names];
}

function shared(name: string, own: Install, other: Install, it: string): string {
  if (name !== own.namespace)
    return `watch.namespaces: ${name} is ${name === other.namespace ? 'the own namespace of' : 'watched by'} ${it} too: leave it to one of them`;
  return name === other.namespace
    ? `namespace: ${name} is the own namespace of ${it} too: give each operator one of its own`
    : `namespace: ${name} is watched by ${it}: an operator's own namespace has no agents, so choose another`;
}
