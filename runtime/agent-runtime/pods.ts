/** What is read from a pod of an enrolled workload. */

import { annotations } from '../api/names.ts';
import type { Pod } from '../api/kubernetes.ts';
import { defaultsHash } from '../config/config-hash.ts';
import { isInjected } from '../workload/pods.ts';
import type { PodFacts } from './observed.ts';

export function podFacts(pod: Pod): PodFacts {
  const { metadata } = pod;
  return {
    name: metadata.name ?? '',
    isInjected: isInjected(pod),
    hash: metadata.annotations?.[annotations.configHash],
    hasOurDefaults: metadata.annotations?.[annotations.defaultsHash] === defaultsHash,
    createdAt: metadata.creationTimestamp ?? '',
  };
}
