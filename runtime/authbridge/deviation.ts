/** Whether a pod that claims to be injected is what we would make of it: with our containers taken out and put in again, nothing that protects it differs. */

import type { Container, Pod, PodSpec, Volume } from '../api/kubernetes.ts';
import { annotations, containers } from '../api/names.ts';
import type { Effective } from '../config/layers.ts';
import { containerNames } from '../config/components.ts';
import { meshContainers } from '../config/conflicts.ts';
import { forgedNote } from '../config/marker.ts';
import { compiledDefaults } from '../config/platform.ts';
import { conflictOf } from './conflicts.ts';
import type { Additions } from './inject.ts';
import { isOurVolume, unlikeness } from './likeness.ts';
import type { Memory } from './memory.ts';
import { type EligibleFacts, plannedAdditions } from './planned-additions.ts';
import type { Choice, Components, ContainerName, Refusal } from './snapshot.ts';
import { volumeNames } from '../config/volume-names.ts';
import { mountPaths } from './volumes.ts';

/**
 * Why the pod is not our output, or what stands against the pod without our containers; undefined: it is ours. What has been switched off since
 * may still be there; what is injected now must be. Doubt denies: an image, a user or a value that only an older configuration explains is refused.
 */
export function deviation(facts: EligibleFacts, names: readonly ContainerName[], memory: Memory): Refusal | undefined {
  const lacking = lackingOf(facts, names);
  if (lacking !== undefined) return forged(lacking);
  const { pod, snapshot } = facts;
  const original = withoutOurs(pod);
  const shown = shownComponents(pod, names);
  const effective = asShown(facts.effective, names);
  const nativeSidecars = (pod.spec.initContainers ?? []).some(
    ({ name }) => isOurs(name) && name !== containers.proxyInit,
  );
  const again: EligibleFacts = {
    snapshot: { ...snapshot, pod: original, nativeSidecars },
    pod: original,
    effective,
    components: shown,
  };
  const conflict = conflictOf(again);
  if (conflict !== undefined) return conflict;
  const added = plannedAdditions(again, memory);
  if ('reason' in added) return added;
  const variant = plannedAdditions({ ...again, effective: otherSource(effective) }, memory);
  if ('reason' in variant) return variant;
  const how = difference(pod, added, variant, imagesOf(effective));
  return how === undefined ? undefined : forged(how);
}

function forged(how: string): Refusal {
  return { reason: 'MarkerForged', note: forgedNote(how) };
}

function isOurs(name: string): boolean {
  return containerNames.some((known) => known === name);
}

/** What would be injected now and is not there. Where there is a proxy, it fetches the identity itself. */
function lackingOf({ components, pod }: EligibleFacts, names: readonly ContainerName[]): string | undefined {
  const shown = shownComponents(pod, names);
  const missing = containerNames.find((name) => {
    const isReplaced = name === containers.spiffeHelper && names.includes(containers.envoyProxy);
    return components.containers[name].inject && !names.includes(name) && !isReplaced;
  });
  if (missing !== undefined) return `the pod has no container ${missing}, which is injected now`;
  if (components.spiffe.inject && !shown.spiffe.inject) return 'its containers have no SPIFFE identity';
  if (components.credentials.inject && names.includes(containers.envoyProxy) && !shown.credentials.inject)
    return 'its containers have no OAuth client credentials';
  return undefined;
}

function shownComponents(pod: Pod, names: readonly ContainerName[]): Components {
  const ours = ourContainers(pod);
  const mountsVolume = (volume: string) =>
    ours.some(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volume) === true);
  const readsCredentials = ours.some(
    ({ volumeMounts }) => volumeMounts?.some(({ mountPath }) => mountPath === mountPaths.credentials) === true,
  );
  const has = (name: ContainerName): Choice => choice(names.includes(name));
  return {
    containers: {
      [containers.proxyInit]: has(containers.proxyInit),
      [containers.envoyProxy]: has(containers.envoyProxy),
      [containers.spiffeHelper]: has(containers.spiffeHelper),
      [containers.clientRegistration]: has(containers.clientRegistration),
    },
    spiffe: choice(mountsVolume(volumeNames.spiffeSocket)),
    credentials: choice(readsCredentials),
  };
}

function choice(inject: boolean): Choice {
  return { inject, reason: inject ? 'the pod has it' : 'the pod lacks it' };
}

/** The configuration with the modes that the pod's containers are of; that none that is wanted now is missing has been seen. */
function asShown(effective: Effective, names: readonly ContainerName[]): Effective {
  const { config } = effective;
  const redirects = names.includes(containers.proxyInit);
  const mode = redirects ? 'envoy-sidecar' : 'proxy-sidecar';
  const registers = names.includes(containers.clientRegistration);
  return {
    ...effective,
    config: {
      ...config,
      authBridge: names.includes(containers.envoyProxy) ? { mode } : config.authBridge,
      clientRegistration: { mode: registers ? 'sidecar' : 'operator' },
    },
  };
}

function otherSource(effective: Effective): Effective {
  const { perWorkloadConfigResolution } = effective.gates;
  return { ...effective, gates: { ...effective.gates, perWorkloadConfigResolution: !perWorkloadConfigResolution } };
}

/** The pod as its owner wrote it, as far as that can be told. */
function withoutOurs(pod: Pod): Pod {
  const { initContainers, containers: own, volumes, ...spec } = pod.spec;
  const foreign = (list: readonly Container[]) => list.filter(({ name }) => !isOurs(name));
  const mounted = ourContainers(pod).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
  const taken = new Set<string>([...mounted, ...Object.values(volumeNames)]);
  const original: PodSpec = {
    ...spec,
    containers: foreign(own),
    ...(initContainers === undefined ? {} : { initContainers: foreign(initContainers) }),
    ...(volumes === undefined ? {} : { volumes: volumes.filter(({ name }) => !taken.has(name)) }),
  };
  return { ...pod, spec: original };
}

function ourContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers].filter(({ name }) => isOurs(name));
}

type Images = Readonly<Record<ContainerName, readonly string[]>>;

function imagesOf({ config: { images } }: Effective): Images {
  const { envoyProxy, proxyInit, sidecar } = compiledDefaults.images;
  return {
    [containers.proxyInit]: [images.proxyInit, proxyInit],
    [containers.envoyProxy]: [images.envoyProxy, envoyProxy],
    [containers.spiffeHelper]: [images.sidecar, sidecar],
    [containers.clientRegistration]: [images.sidecar, sidecar],
  };
}

function difference(pod: Pod, added: Additions, variant: Additions, images: Images): string | undefined {
  const { initContainers = [], containers: own, volumes = [] } = pod.spec;
  return (
    ofOrder(initContainers, added.init) ??
    ofContainers([...initContainers, ...own], added, variant, images) ??
    ofVolumes(volumes, added.volumes) ??
    ofAnnotations(pod, added)
  );
}

/** Ours come first, so that no container of the application runs before its traffic is captured; a mesh's may precede them. */
function ofOrder(all: readonly Container[], built: readonly Container[]): string | undefined {
  const actual = all.filter(({ name }) => !meshContainers.includes(name));
  const late = built.find(({ name }, at) => actual[at]?.name !== name);
  return late && `container ${late.name} does not come first among the init containers`;
}

function ofContainers(
  actual: readonly Container[],
  added: Additions,
  variant: Additions,
  images: Images,
): string | undefined {
  const others = [...variant.init, ...variant.plain];
  for (const [at, container] of [...added.init, ...added.plain].entries()) {
    const name = container.name as ContainerName;
    const [found, second] = actual.filter((each) => each.name === name);
    const likeness = { container, variant: others[at] ?? container, images: images[name] };
    const how = found === undefined || second !== undefined ? 'its number' : unlikeness(found, likeness);
    if (how !== undefined) return `container ${name} is not as it is injected: ${how}`;
  }
  return undefined;
}

/** An application may declare the directory of certificates itself, to share it. */
function ofVolumes(actual: readonly Volume[], built: readonly Volume[]): string | undefined {
  const other = built.find((volume) => {
    const found = actual.find(({ name }) => name === volume.name);
    const isShared = volume.name === volumeNames.svid && found?.emptyDir !== undefined;
    return !isShared && !isOurVolume(found, volume);
  });
  return other && `volume ${other.name} is not as it is injected`;
}

function ofAnnotations({ metadata }: Pod, added: Additions): string | undefined {
  const { [annotations.credentialsSecret]: secret } = added.annotations;
  const own = metadata.annotations ?? {};
  const isHashed =
    /^[0-9a-f]{64}$/.test(own[annotations.configHash] ?? '') &&
    /^[0-9a-f]{16}$/.test(own[annotations.defaultsHash] ?? '');
  if (!isHashed)
    return `annotations ${annotations.configHash} and ${annotations.defaultsHash} are not those of an injection`;
  return secret === undefined || own[annotations.credentialsSecret] === secret
    ? undefined
    : `annotation ${annotations.credentialsSecret} names another Secret`;
}
