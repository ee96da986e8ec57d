/** The explicit proxy of a pod whose traffic is not redirected: where it finds the application, and what it is warned of. */

import type { PodSpec } from '../api/kubernetes.ts';
import { containers } from '../api/names.ts';
import { meshContainers } from '../config/conflicts.ts';
import type { Facts } from './conflicts.ts';
import { proxyDefeats } from './proxy-variables.ts';

/** How the proxy serves such a pod. */
export interface Explicit {
  /** Where callers are passed on to; undefined: the pod declares no TCP port. */
  readonly applicationPort: number | undefined;
  /** False on the host's network, where loopback is the node's: a proxy on it would be everybody's. */
  readonly isOutbound: boolean;
}

/** Undefined where the traffic is redirected, or where there is no proxy. */
export function explicitOf({
  pod,
  effective,
  components,
}: Pick<Facts, 'pod' | 'effective' | 'components'>): Explicit | undefined {
  const isExplicit = effective.config.authBridge.mode === 'proxy-sidecar';
  if (!isExplicit || !components.containers[containers.envoyProxy].inject) return undefined;
  return { applicationPort: applicationPort(pod.spec), isOutbound: pod.spec.hostNetwork !== true };
}

/** As the card's port is found: the one named `a2a`, else `http`, else the first that is declared. */
function applicationPort({ containers: own }: PodSpec): number | undefined {
  const declared = own
    .filter(({ name }) => !meshContainers.includes(name))
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const named = (wanted: string) => declared.find(({ name }) => name === wanted);
  return (named('a2a') ?? named('http') ?? declared[0])?.containerPort;
}

/** What of the pod is in the way of its proxy. */
export function explicitWarnings(facts: Facts): readonly string[] {
  const explicit = explicitOf(facts);
  if (explicit === undefined) return [];
  const { spec } = facts.pod;
  return [
    ...(explicit.applicationPort === undefined ? [noPort] : []),
    ...(explicit.isOutbound ? spec.containers.flatMap(proxyDefeats) : [sharedLoopback]),
  ];
}

const noPort =
  'no container declares a TCP port, so envoy-proxy has nowhere to pass callers on to and answers 503 at its port rossoctl-in; declare the port of the application (ports.containerPort)';

const sharedLoopback =
  "the pod uses the host's network, where loopback is everybody's on the node, so envoy-proxy offers no proxy for the pod's own calls and no HTTP_PROXY is set: no tokens are exchanged; remove hostNetwork";
