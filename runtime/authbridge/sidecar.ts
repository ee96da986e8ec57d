/** What an injected container is: its own part, and the volumes it needs. */

import type { Container } from '../api/kubernetes.ts';
import type { Mounted } from './volumes.ts';

/** A built container with its volumes. */
export interface Sidecar {
  readonly container: Container;
  readonly volumes: readonly Mounted['volume'][];
}

/** Joins a container with what is mounted into it. */
export function sidecar(container: Container, mounted: readonly Mounted[]): Sidecar {
  return {
    container: { ...container, volumeMounts: mounted.map(({ mount }) => mount) },
    volumes: mounted.map(({ volume }) => volume),
  };
}
