/** Which rules of the Pod Security Standard "restricted" a pod breaks, and where. */

import { type ContainerAt, containersOf, type PodAt, recordOf, textOf, type ValueAt, valuesAt } from './pods.ts';
import { type LimitedField, limitedFields, type NeededField, neededFields } from './restricted-fields.ts';

/** A rule of the standard that a pod breaks. */
export interface Breach {
  /** The standard's name of the rule. */
  readonly rule: string;
  /** Path of the field in the object. */
  readonly path: string;
  /** What is wrong there, and what to write. */
  readonly message: string;
}

/** Every rule's name, as the standard has it. */
export const restrictedRules: readonly string[] = [
  ...new Set([...limitedFields, ...neededFields].map(({ rule }) => rule)),
].sort();

/** Every rule that a pod breaks, field by field. */
export function restrictedBreaches(pod: PodAt): readonly Breach[] {
  const containers = containersOf(pod);
  return [
    ...limitedFields.flatMap((rule) => limitedBreaches(rule, pod, containers)),
    ...annotationBreaches(pod),
    ...neededFields.flatMap((rule) => neededBreaches(rule, pod, containers)),
  ];
}

const rootOf = ({ path, spec }: PodAt): ValueAt => ({ path, value: spec });
const rootsOf = (containers: readonly ContainerAt[]): readonly ValueAt[] =>
  containers.map(({ path, container }) => ({ path, value: container }));

function limitedBreaches(row: LimitedField, pod: PodAt, containers: readonly ContainerAt[]): readonly Breach[] {
  const { rule, of, path: field, allowed, remedy } = row;
  const roots = [...(of === 'container' ? [] : [rootOf(pod)]), ...(of === 'pod' ? [] : rootsOf(containers))];
  return roots
    .flatMap((root) => valuesAt(root, field))
    .filter(({ value }) => !allowed(value))
    .map(({ path, value }) => ({ rule, path, message: `${JSON.stringify(value)} is not allowed: ${remedy}` }));
}

/** How AppArmor was said before it had fields. */
function annotationBreaches({ path, annotations }: PodAt): readonly Breach[] {
  return Object.entries(annotations)
    .filter(([key, value]) => {
      const profile = textOf(value) ?? '';
      const isOurs = key.startsWith('container.apparmor.security.beta.kubernetes.io/');
      return isOurs && !/^(|runtime\/default|localhost\/.*)$/s.test(profile);
    })
    .map(([key, value]) => ({
      rule: 'AppArmor',
      path: `${path.replace(/spec$/, 'metadata')}.annotations["${key}"]`,
      message: `${JSON.stringify(value)} is not allowed: write runtime/default or localhost/PROFILE`,
    }));
}

function neededBreaches(row: NeededField, pod: PodAt, containers: readonly ContainerAt[]): readonly Breach[] {
  const { rule, path: field, has, byPod, linuxOnly, remedy } = row;
  if (linuxOnly && recordOf(pod.spec['os'])['name'] === 'windows') return [];
  const says = (root: ValueAt) => has(valuesAt(root, field)[0]?.value);
  if (byPod && says(rootOf(pod))) return [];
  return rootsOf(containers)
    .filter((root) => !says(root))
    .map((root) => {
      const value = valuesAt(root, field)[0]?.value;
      const found = value === undefined ? 'is missing' : `${JSON.stringify(value)} is not enough`;
      return { rule, path: `${root.path}.${field}`, message: `${found}: ${remedy}` };
    });
}
