/** The conflicts of one pod at its admission, by the rules that also hold for its template; and what a mesh is warned of. */

import type { Pod } from '../api/kubernetes.ts';
import { containers } from '../api/names.ts';
import {
  type ConflictFacts,
  conflictOf as conflictBy,
  meshContainers,
  strictConflict as strictBy,
} from '../config/conflicts.ts';
import type { Effective } from '../config/layers.ts';
import { restrictingLevel } from '../workload/pod-security.ts';
import type { Components, Refusal, Snapshot } from './snapshot.ts';

/** What a decision looks at. */
export interface Facts {
  readonly snapshot: Snapshot;
  readonly pod: Pod;
  readonly effective: Effective;
  readonly components: Components;
}

/** Strict mutual TLS is never quietly dropped for want of a driver, also where nothing would be injected. */
export function strictConflict(facts: Facts): Refusal | undefined {
  return strictBy(factsFor(facts));
}

/** The first conflict of a pod that is about to be injected. */
export function conflictOf(facts: Facts): Refusal | undefined {
  return conflictBy(factsFor(facts));
}

function factsFor({ snapshot, pod, effective, components }: Facts): ConflictFacts {
  const { namespace, namespaceLabels, csiDriver } = snapshot;
  return { pod, namespace, restrictingLevel: restrictingLevel(namespaceLabels), csiDriver, effective, components };
}

/** A mesh's proxy that shares our user is left alone; what it sends on is not redirected a second time. */
export function meshWarnings({ pod, effective, components }: Facts): readonly string[] {
  if (!components.containers[containers.proxyInit].inject) return [];
  const { uid } = effective.config.proxy;
  const shared = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find(
    ({ name, securityContext }) => meshContainers.includes(name) && securityContext?.runAsUser === uid,
  );
  return shared === undefined
    ? []
    : [
        `container ${shared.name} runs as user ${uid} like the proxy, so what it sends does not pass envoy-proxy; set another proxy.uid in the platform configuration to capture it`,
      ];
}
