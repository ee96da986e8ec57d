/** What a pod says of itself: which containers of ours it claims to have, and whether it has containers of those names. */

import type { Pod } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import { type ContainerName, containerNames } from './components.ts';

/**
 * `none`: not injected; `claimed`: marker and names of containers agree, which is for `deviation` to judge; `forged`: they contradict each other,
 * `note` says how.
 */
export type Marker =
  | { readonly state: 'none' }
  | { readonly state: 'claimed'; readonly names: readonly ContainerName[] }
  | { readonly state: 'forged'; readonly note: string };

/** A marker without any container of ours is stale and counts as none, so that it cannot keep a pod from being injected. */
export function markerOf(pod: Pick<Pod, 'metadata' | 'spec'>): Marker {
  const marker = pod.metadata.annotations?.[annotations.injected];
  const present = ourNamesIn(pod);
  if (marker === undefined || marker === '' || present.length === 0) return { state: 'none' };
  const claimed = marker.split(',').map((name) => name.trim());
  const unknown = claimed.find((name) => !containerNames.some((known) => known === name));
  if (unknown !== undefined) return forged(`it names ${JSON.stringify(unknown)}, which is no container of ours`);
  const names = containerNames.filter((name) => claimed.includes(name));
  const missing = names.find((name) => !present.includes(name));
  if (missing !== undefined) return forged(`the pod has no container ${missing}`);
  const extra = present.find((name) => !names.includes(name));
  return extra === undefined ? { state: 'claimed', names } : forged(`it does not name the container ${extra}`);
}

function forged(how: string): Marker {
  return { state: 'forged', note: forgedNote(how) };
}

/** The sentence about a marker that is not true. */
export function forgedNote(how: string): string {
  const remedy =
    'remove the annotation and those containers from the pod template, as they are added at admission; a template that `rossoctl inject` printed is printed again from its source with the release of the operator';
  return `annotation ${annotations.injected} is not true: ${how}; ${remedy}`;
}

/** The names of ours that the pod's containers already use. */
export function ourNamesIn({ spec }: Pick<Pod, 'spec'>): readonly ContainerName[] {
  const names = new Set([...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name));
  return containerNames.filter((name) => names.has(name));
}
