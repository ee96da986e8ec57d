/** Pod → the workload it belongs to, by owner reference; names are read only where no reference is to be had. */

import { groupOf, type TargetRef } from '../api/target-ref.ts';
import type { KubeObject, OwnerReference } from '../engine/types.ts';

/** The workload, with a note how it was found; `kind` and `group` are absent when only a name is known. */
export type Owner =
  | { readonly kind?: string; readonly group?: string; readonly name: string; readonly via: string }
  | { readonly none: string };

/** What is asked for on the way; `unknown` when it could not be read, `undefined` when it does not exist. */
export type OwnerLookUp = (kind: 'ReplicaSet' | 'Job', name: string) => KubeObject | undefined | 'unknown';

const hashLabel = 'pod-template-hash';

/**
 * The workload of a pod that is being created (its name may not exist yet). Report PM-16: a ReplicaSet's Deployment comes from the
 * ReplicaSet's own reference; its name is trimmed by the template hash only when the ReplicaSet cannot be had. Never throws.
 */
export function ownerOf(pod: KubeObject, lookUp: OwnerLookUp): Owner {
  const owner = controllerOf(pod);
  if (owner === undefined) return fromNames(pod);
  switch (`${groupOf(owner.apiVersion)}/${owner.kind}`) {
    case 'apps/StatefulSet':
    case 'apps/DaemonSet':
    case 'apps/Deployment':
    case 'batch/CronJob':
      return itself(owner, 'owner reference');
    case 'apps/ReplicaSet':
      return ofReplicaSet(owner, pod, lookUp);
    case 'batch/Job':
      return ofJob(owner, lookUp);
    default:
      return { none: `its owner ${owner.apiVersion} ${owner.kind} ${owner.name} is of no kind that can be targeted` };
  }
}

/** True when the target is that workload. An owner known by name alone matches a target of any supported kind. */
export function matches(owner: Owner, target: TargetRef): boolean {
  if ('none' in owner || owner.name !== target.name) return false;
  return owner.kind === undefined || (owner.kind === target.kind && owner.group === groupOf(target.apiVersion));
}

function ofReplicaSet(owner: OwnerReference, pod: KubeObject, lookUp: OwnerLookUp): Owner {
  const replicaSet = lookUp('ReplicaSet', owner.name);
  if (replicaSet === undefined || replicaSet === 'unknown') return byTemplateHash(owner, pod);
  const above = controllerOf(replicaSet);
  return isOf(above, 'apps', 'Deployment')
    ? itself(above, `owner reference of ReplicaSet ${owner.name}`)
    : itself(owner, 'owner reference');
}

/** The Deployment controller names a ReplicaSet `<deployment>-<pod-template-hash>`. */
function byTemplateHash(owner: OwnerReference, pod: KubeObject): Owner {
  const name = withoutHash(owner.name, pod);
  return name === undefined
    ? itself(owner, 'owner reference; the ReplicaSet could not be read')
    : deployment(name, `name and template hash of ReplicaSet ${owner.name}`);
}

function ofJob(owner: OwnerReference, lookUp: OwnerLookUp): Owner {
  const job = lookUp('Job', owner.name);
  if (job === undefined || job === 'unknown') return itself(owner, 'owner reference; the Job could not be read');
  const above = controllerOf(job);
  return isOf(above, 'batch', 'CronJob')
    ? itself(above, `owner reference of Job ${owner.name}`)
    : itself(owner, 'owner reference');
}

function fromNames(pod: KubeObject): Owner {
  const { generateName, name } = pod.metadata ?? {};
  const stem = generateName?.replace(/-+$/, '');
  if (stem !== undefined && stem !== '') {
    const trimmed = withoutHash(stem, pod);
    return trimmed === undefined
      ? { name: stem, via: 'generateName' }
      : deployment(trimmed, 'generateName and template hash');
  }
  return name ? { name, via: 'its own name' } : { none: 'it has no owner and no name' };
}

/** `weather` of `weather-7d9f8c6b5` when that is the pod's template hash. */
function withoutHash(name: string, pod: KubeObject): string | undefined {
  const hash = pod.metadata.labels?.[hashLabel];
  if (!hash || !name.endsWith(`-${hash}`)) return undefined;
  return name.slice(0, -hash.length - 1) || undefined;
}

/** The controlling owner; a sole owner that does not say whether it controls is taken for it, as hand-written manifests have it. */
function controllerOf(object: KubeObject): OwnerReference | undefined {
  const owners = object.metadata?.ownerReferences ?? [];
  const [sole] = owners.length === 1 ? owners : [];
  return owners.find((owner) => owner.controller === true) ?? (sole?.controller === undefined ? sole : undefined);
}

function isOf(owner: OwnerReference | undefined, group: string, kind: string): owner is OwnerReference {
  return owner !== undefined && owner.kind === kind && groupOf(owner.apiVersion) === group;
}

function itself(owner: OwnerReference, via: string): Owner {
  return { kind: owner.kind, group: groupOf(owner.apiVersion), name: owner.name, via };
}

function deployment(name: string, via: string): Owner {
  return { kind: 'Deployment', group: 'apps', name, via };
}

/** The owner that says it controls; stricter than what a hand-written pod is believed. */
export function declaredController({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** The uid of that owner, or nothing: for the indexes by owner. */
export function controllerUid(object: KubeObject): readonly string[] {
  const controller = declaredController(object);
  return controller === undefined ? [] : [controller.uid];
}
