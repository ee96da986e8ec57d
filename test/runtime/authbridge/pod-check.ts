/** Checks of a pod written from Kubernetes' own rules, independently of what builds it. */

import type { Container, Pod } from '../../../runtime/api/kubernetes.ts';
import { allContainers } from './fixtures.ts';

/** What the API server would refuse about names, mounts and ports; empty when nothing. */
export function structureFaults(pod: Pod): readonly string[] {
  const containers = allContainers(pod);
  const volumes = (pod.spec.volumes ?? []).map(({ name }) => name);
  return [
    ...repeated(containers.map(({ name }) => name)).map((name) => `container ${name} twice`),
    ...repeated(volumes).map((name) => `volume ${name} twice`),
    ...volumes
      .filter((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      .map((name) => `volume name ${name}`),
    ...containers.flatMap((container) => containerFaults(container, volumes)),
  ];
}

function containerFaults({ name, env, ports, volumeMounts, startupProbe }: Container, volumes: readonly string[]) {
  const mounts = volumeMounts ?? [];
  const portNames = (ports ?? []).flatMap((port) => (port.name === undefined ? [] : [port.name]));
  return [
    ...mounts.filter((mount) => !volumes.includes(mount.name)).map((mount) => `${name}: no volume ${mount.name}`),
    ...repeated(mounts.map(({ mountPath }) => mountPath)).map((path) => `${name}: ${path} mounted twice`),
    ...repeated((env ?? []).map((variable) => variable.name)).map((variable) => `${name}: ${variable} set twice`),
    ...repeated(portNames).map((port) => `${name}: port name ${port} twice`),
    ...portNames
      .filter((port) => !/^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/.test(port))
      .map((port) => `${name}: port name ${port}`),
    ...(startupProbe?.httpGet === undefined || Number(startupProbe.httpGet.port) > 0
      ? []
      : [`${name}: probe without port`]),
  ];
}

/** Ports that two containers would bind; `names` limits it to clashes with these containers. */
export function portClashes(pod: Pod, names: readonly string[]): readonly string[] {
  const bound = allContainers(pod).flatMap(({ name, ports, env }) => [
    ...(ports ?? []).map(({ containerPort }) => ({ name, port: containerPort })),
    ...(env ?? []).filter((variable) => variable.name === 'PORT').map(({ value }) => ({ name, port: Number(value) })),
  ]);
  return bound
    .filter(({ name }) => names.includes(name))
    .flatMap((ours) => bound.filter((other) => other.name !== ours.name && other.port === ours.port))
    .map(({ name, port }) => `${name} also uses ${port}`);
}

/** Violations of the Pod Security Standard "restricted" by one container (https://kubernetes.io/docs/concepts/security/pod-security-standards/). */
export function restrictedFaults(container: Container): readonly string[] {
  return [...userFaults(container), ...privilegeFaults(container)].map((what) => `${container.name}: ${what}`);
}

function userFaults({ securityContext: context, ports }: Container): readonly string[] {
  return found([
    [context?.runAsNonRoot !== true, 'runAsNonRoot'],
    [context?.runAsUser === 0 || context?.runAsUser === undefined, 'runAsUser'],
    [context?.readOnlyRootFilesystem !== true, 'readOnlyRootFilesystem (ours, beyond the standard)'],
    [(ports ?? []).some(({ hostPort }) => hostPort !== undefined && hostPort !== 0), 'hostPort'],
  ]);
}

function privilegeFaults({ securityContext: context }: Container): readonly string[] {
  const { add = [], drop = [] } = context?.capabilities ?? {};
  return found([
    [context?.privileged === true, 'privileged'],
    [context?.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation'],
    [!['RuntimeDefault', 'Localhost'].includes(context?.seccompProfile?.type ?? ''), 'seccompProfile'],
    [!drop.includes('ALL'), 'capabilities.drop'],
    [add.some((capability) => capability !== 'NET_BIND_SERVICE'), 'capabilities.add'],
  ]);
}

function found(faults: readonly (readonly [boolean, string])[]): readonly string[] {
  return faults.filter(([isFault]) => isFault).map(([, what]) => what);
}

/** Volume types the standard "restricted" allows. */
export function volumeFaults(pod: Pod): readonly string[] {
  const allowed = [
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ];
  return (pod.spec.volumes ?? [])
    .filter((volume) => !Object.keys(volume).some((key) => allowed.includes(key)))
    .map(({ name }) => `volume ${name}`);
}

function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, at) => values.indexOf(value) !== at);
}
