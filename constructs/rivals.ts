/** The constructs of an app by what they are about, so that each finds those about the same without looking at all others. */

import type { IConstruct } from 'constructs';
import { groupOf, type TargetRef } from '../runtime/api/target-ref.ts';

/** Root of an app → subject → its constructs, in the order of their making. */
const apps = new WeakMap<IConstruct, Map<string, IConstruct[]>>();

/** What a construct says of one workload: `AgentRuntime`, its namespace, its target. */
export function subjectOf(what: string, namespace: string | undefined, target?: TargetRef): string {
  const { apiVersion = '', kind, name } = target ?? {};
  return JSON.stringify([what, namespace, groupOf(apiVersion), kind, name]);
}

/** To be called once by each construct that `rivals` shall find. */
export function registerSubject(construct: IConstruct, subject: string): void {
  const { root } = construct.node;
  const subjects = apps.get(root) ?? new Map<string, IConstruct[]>();
  apps.set(root, subjects);
  const same = subjects.get(subject);
  if (same === undefined) subjects.set(subject, [construct]);
  else same.push(construct);
}

/** Every other construct of the app that was registered for the subject and is still in the app. */
export function rivals(construct: IConstruct, subject: string): readonly IConstruct[] {
  const all = apps.get(construct.node.root)?.get(subject) ?? [];
  return all.filter((other) => other !== construct && isInApp(other));
}

/** A construct can be taken out of its app again (`tryRemoveChild`), with all that is below it. */
function isInApp({ node }: IConstruct): boolean {
  return node.scopes.every((each, at, scopes) => at === 0 || scopes[at - 1]?.node.tryFindChild(each.node.id) === each);
}
