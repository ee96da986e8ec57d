/** Tells a pod we have injected from one that merely looks like it. */

import type { Container, Pod } from '../api/kubernetes.ts';
import { annotations, containers } from '../api/names.ts';
import type { ContainerName } from './snapshot.ts';
import { volumeNames } from './volumes.ts';

/** `none`: not injected; `ours`: injected, by these names; `forged`: marker and containers contradict each other, `note` says how. */
export type Marker =
  | { readonly state: 'none' }
  | { readonly state: 'ours'; readonly names: readonly ContainerName[] }
  | { readonly state: 'forged'; readonly note: string };

export const containerNames: readonly ContainerName[] = Object.freeze(Object.values(containers));

/**
 * Already injected is our marker *and* our containers. A marker without any of them is stale and counts as none, so it cannot
 * keep a pod from being injected; a marker that some container contradicts is refused. What other webhooks may change on our containers (image,
 * command, resources, environment) is not looked at (report PM-03).
 */
export function markerOf(pod: Pod): Marker {
  const marker = pod.metadata.annotations?.[annotations.injected];
  const present = ourNamesIn(pod);
  if (marker === undefined || marker === '' || present.length === 0) return { state: 'none' };
  const claimed = marker.split(',').map((name) => name.trim());
  const unknown = claimed.find((name) => !containerNames.some((known) => known === name));
  if (unknown !== undefined) return forged(`it names ${JSON.stringify(unknown)}, which is no container of ours`);
  const names = containerNames.filter((name) => claimed.includes(name));
  const missing = names.find((name) => !isOurs(pod, name));
  if (missing !== undefined) return forged(`the pod has no ${missing} container of ours`);
  const extra = present.find((name) => !names.includes(name));
  return extra === undefined ? { state: 'ours', names } : forged(`it does not name the container ${extra}`);
}

function forged(how: string): Marker {
  const remedy = 'remove the annotation and those containers from the pod template; they are added at admission';
  return { state: 'forged', note: `annotation ${annotations.injected} is not true: ${how}; ${remedy}` };
}

/** The names of ours that the pod's containers already use. */
export function ourNamesIn({ spec }: Pod): readonly ContainerName[] {
  const names = new Set([...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name));
  return containerNames.filter((name) => names.has(name));
}

/** The volume that each of them, and nothing else, always mounts. */
const ownVolumes: Readonly<Record<ContainerName, string>> = {
  [containers.proxyInit]: volumeNames.run,
  [containers.envoyProxy]: volumeNames.work,
  [containers.spiffeHelper]: volumeNames.svid,
  [containers.clientRegistration]: volumeNames.credentials,
};

/** Made by us: in its place, and with its own volume mounted, which other webhooks have no reason to touch. */
function isOurs({ spec }: Pod, name: ContainerName): boolean {
  const init = spec.initContainers?.find((container) => container.name === name);
  if (name === containers.proxyInit) return init !== undefined && mountsItsVolume(init, name);
  if (init !== undefined) return init.restartPolicy === 'Always' && mountsItsVolume(init, name);
  const ordinary = spec.containers.find((container) => container.name === name);
  return ordinary !== undefined && mountsItsVolume(ordinary, name);
}

function mountsItsVolume({ volumeMounts }: Container, name: ContainerName): boolean {
  return volumeMounts?.some((mount) => mount.name === ownVolumes[name]) === true;
}
