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

function collisionsIn(root: IConstruct): string[] {
  const objects = root.node
    .findAll()
    .filter((construct) => ApiObject.isApiObject(construct))
    .map((object) => ({ path: object.node.path, identity: object.toJson() as Identity }));
  const groups = grouped(objects, ({ identity }) => keyOf(identity));
  const told = [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined || same.length === 1) return [];
    return [
      collision(
        first.identity,
        same.map(({ path }) => path),
      ),
    ];
  });
  const more = told.length - spelledOut;
  return more > 0 ? [...told.slice(0, spelledOut), `and ${more} more objects are made twice`] : told;
}

/** The version does not count: it is the same object in another form. */
function keyOf({ apiVersion, kind, metadata }: Identity): string {
  return JSON.stringify([groupOf(apiVersion), kind, metadata?.namespace, metadata?.name]);
}

function collision({ kind, metadata }: Identity, paths: readonly string[]): string {
  const name = [metadata?.namespace ?? [], metadata?.name ?? ''].flat().join('/');
  const remedy =
    kind === 'Namespace'
      ? 'let one of them make it, and set create: false (AgentPlatform: createNamespace: false) on the others'
      : 'give each another name (prop name), or remove all but one';
  return `${kind} ${name} is made ${paths.length} times, by ${paths.join(' and ')}: ${remedy}`;
}
