/** What the container builders are given: everything already decided. */

import type { Effective } from '../config/layers.ts';
import type { Explicit } from './explicit.ts';
import type { Ports } from './ports.ts';
import type { ProbedPath } from './probes.ts';
import type { Components } from './snapshot.ts';

/** One injection, ready to be built. */
export interface Build {
  readonly effective: Effective;
  readonly components: Components;
  readonly ports: Ports;
  readonly exclusions: { readonly outbound: readonly number[]; readonly inbound: readonly number[] };
  /** What the kubelet asks the pod's own containers for. */
  readonly probes: readonly ProbedPath[];
  /** Undefined where the traffic is redirected. */
  readonly explicit: Explicit | undefined;
  /** Secret (and volume) with the workload's OAuth client credentials. */
  readonly credentialsSecret: string;
  /** What the workload is called in Keycloak, where its own pod registers it. */
  readonly clientId: string;
  readonly nativeSidecars: boolean;
  /** Configuration hash the pod is built from; absent: the pod's annotation stays as it is. */
  readonly configHash: string | undefined;
}
