/** What is read from a pod of an enrolled workload. */

import { annotations } from '../api/names.ts';
import type { Pod } from '../api/kubernetes.ts';
import { defaultsHash } from '../config/config-hash.ts';
import type { PodFacts } from './observed.ts';

export function podFacts({ metadata }: Pod): PodFacts {
  return {
    name: metadata.name ?? '',
    isInjected: metadata.annotations?.[annotations.injected] !== undefined,
    hash: metadata.annotations?.[annotations.configHash],
    hasOurDefaults: metadata.annotations?.[annotations.defaultsHash] === defaultsHash,
    createdAt: metadata.creationTimestamp ?? '',
  };
}
