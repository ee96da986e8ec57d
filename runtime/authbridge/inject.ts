/** Adds the decided containers, volumes and annotations to a pod, or to a pod template. */

import type { Container, PodSpec, Volume } from '../api/kubernetes.ts';
import { annotations, containers } from '../api/names.ts';
import { defaultsHash } from '../config/config-hash.ts';
import type { ObjectMeta } from '../engine/types.ts';
import type { Build } from './build.ts';
import { clientRegistration } from './client-registration.ts';
import { envoyProxy } from './envoy-proxy.ts';
import { raised } from './pod-resources.ts';
import { proxyInit } from './proxy-init.ts';
import { throughProxy } from './proxy-variables.ts';
import type { Sidecar } from './sidecar.ts';
import type { ContainerName } from './snapshot.ts';
import { spiffeHelper } from './spiffe-helper.ts';

/** In the order in which they start. */
export const builders: readonly (readonly [ContainerName, (build: Build) => Sidecar])[] = Object.freeze([
  [containers.proxyInit, proxyInit],
  [containers.envoyProxy, envoyProxy],
  [containers.spiffeHelper, spiffeHelper],
  [containers.clientRegistration, clientRegistration],
]);

/** A pod or a pod template. */
interface HasSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}

/** What will be added: built once, so that conflicts with it can be looked for before it is used. */
export interface Additions {
  readonly init: readonly Container[];
  /** Ordinary containers: only where the API server knows no native sidecars. */
  readonly plain: readonly Container[];
  readonly volumes: readonly Volume[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Where the pod's own containers find the explicit proxy; undefined: they need not know of one. */
  readonly proxyPort: number | undefined;
}

/** Builds everything an injection adds. */
export function additions(build: Build): Additions {
  const chosen = builders.filter(([name]) => build.components.containers[name].inject);
  const built = chosen.map(([, builder]) => builder(build));
  const isInit = ({ container: { name } }: Sidecar) => build.nativeSidecars || name === containers.proxyInit;
  const volumes = new Map(built.flatMap((sidecar) => sidecar.volumes.map((volume) => [volume.name, volume])));
  return {
    init: built.filter(isInit).map(({ container }) => container),
    plain: built.filter((sidecar) => !isInit(sidecar)).map(({ container }) => container),
    volumes: [...volumes.values()],
    proxyPort: build.explicit?.isOutbound === true ? build.ports.outbound : undefined,
    annotations: {
      [annotations.injected]: chosen.map(([name]) => name).join(','),
      [annotations.defaultsHash]: defaultsHash,
      ...(build.configHash === undefined ? {} : { [annotations.configHash]: build.configHash }),
      ...(volumes.has(build.credentialsSecret) ? { [annotations.credentialsSecret]: build.credentialsSecret } : {}),
    },
  };
}

/**
 * The pod with the additions: ours before the user's init containers, so that their traffic is captured too, ordinary ones and volumes at the end.
 * Shares every subtree it does not change with `pod`; the user's volumes are among those, all pod-level settings but `resources`, and the user's containers where
 * they are not told of a proxy. A volume the user declares under one of our names (see `svidDirectory`) is kept.
 */
export function inject<P extends HasSpec>(pod: P, added: Additions): P {
  const { initContainers, containers: own, volumes, resources } = pod.spec;
  const declared = new Set((volumes ?? []).map(({ name }) => name));
  const missing = added.volumes.filter(({ name }) => !declared.has(name));
  // An ordinary proxy container is not there yet while init containers run.
  const before = added.plain.length === 0 ? told(initContainers ?? [], added) : (initContainers ?? []);
  const spec: PodSpec = {
    ...pod.spec,
    ...(added.init.length === 0 ? {} : { initContainers: [...added.init, ...before] }),
    containers: [...told(own, added), ...added.plain],
    ...(missing.length === 0 ? {} : { volumes: [...(volumes ?? []), ...missing] }),
    ...(resources ? { resources: raised(resources, [...added.init, ...added.plain]) } : {}),
  };
  const metadata = { ...pod.metadata, annotations: { ...pod.metadata?.annotations, ...added.annotations } };
  return { ...pod, metadata, spec };
}

function told(all: readonly Container[], { proxyPort }: Additions): readonly Container[] {
  return proxyPort === undefined ? all : all.map((container) => throughProxy(container, proxyPort));
}
