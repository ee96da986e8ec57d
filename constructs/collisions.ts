/** Finds objects of an app that would be one object in the cluster: the second of them would silently overwrite the first. */

import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { groupOf } from '../runtime/api/target-ref.ts';
import { grouped } from './grouped.ts';

/** Apps that are looked at already. */
const lookedAt = new WeakSet<IConstruct>();
/** More than these are counted, not told. */
const spelledOut = 5;

/** Makes synthesis of the construct's whole app fail on two objects of the same group, kind, namespace and name, whoever made them. */
export function refuseCollisions(construct: IConstruct): void {
  const { root } = construct.node;
  if (lookedAt.has(root)) return;
  lookedAt.add(root);
  root.node.addValidation({ validate: () => collisionsIn(root) });
}

interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

/** An object that is made more than once, and the paths of those that make it. */
interface Collision {
  readonly identity: Identity;
  readonly paths: readonly string[];
}

function collisionsIn(root: IConstruct): string[] {
  const objects = root.node
    .findAll()
    .filter((construct) => ApiObject.isApiObject(construct))
    .map((object) => ({ path: object.node.path, identity: object.toJson() as Identity }));
  const collisions = [...grouped(objects, ({ identity }) => keyOf(identity)).values()].flatMap((same) =>
    same.slice(1, 2).map(({ identity }) => ({ identity, paths: same.map(({ path }) => path) })),
  );
  const told = [...grouped(collisions, ({ paths }) => listed(makersOf(paths))).values()].flatMap(sentence);
  const more = told.length - spelledOut;
  return more > 0 ? [...told.slice(0, spelledOut), `and ${more} more are made twice`] : told;
}

/** The version does not count: it is the same object in another form. */
function keyOf({ apiVersion, kind, metadata }: Identity): string {
  return JSON.stringify([groupOf(apiVersion), kind, metadata?.namespace, metadata?.name]);
}

/** Constructs that are made alike end alike below: what is left of the paths is where they differ. */
function makersOf(paths: readonly string[]): readonly string[] {
  const ids = paths.map((path) => path.split('/'));
  const shortest = Math.min(...ids.map(({ length }) => length));
  const differing = Array.from({ length: shortest }, (_, index) => index).find(
    (index) => new Set(ids.map((each) => each.at(-1 - index))).size > 1,
  );
  return ids.map((each) => each.slice(0, each.length - (differing ?? 0)).join('/'));
}

/** What the same constructs make in common is one mistake, and so one sentence. */
function sentence([first, ...others]: readonly Collision[]): readonly string[] {
  if (first === undefined) return [];
  const { identity, paths } = first;
  const name = [identity.metadata?.namespace ?? [], identity.metadata?.name ?? ''].flat().join('/');
  const what = `${identity.kind} ${name}`;
  if (others.length === 0)
    return [`${what} is made ${paths.length} times, by ${listed(paths)}: ${remedyFor(identity)}`];
  const count = others.length === 1 ? 'one more object' : `${others.length} more objects`;
  const remedy = 'remove all but one, or have each make its own under other names';
  return [`${what} and ${count} are made ${paths.length} times, by ${listed(makersOf(paths))}: ${remedy}`];
}

function listed(paths: readonly string[]): string {
  return paths.join(' and ');
}

function remedyFor({ kind }: Identity): string {
  return kind === 'Namespace'
    ? 'let one of them make it, and set create: false (AgentPlatform: createNamespace: false) on the others'
    : 'give each another name (prop name), or remove all but one';
}
