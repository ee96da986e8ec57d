/** What the cache keeps of a pod: whose it is, our annotations, its containers' names and ports, whether it is ready, and its addresses. */

import type { Container, ContainerPort, Pod } from '../api/kubernetes.ts';
import { annotations, containers as injected } from '../api/names.ts';

/** The annotations of ours that are read from pods; a pod may carry large ones of others. */
const podAnnotations: readonly string[] = [annotations.injected, annotations.configHash, annotations.defaultsHash];

const ourContainers: ReadonlySet<string> = new Set(Object.values(injected));

/** Ports kept of one container: more than anybody declares by hand, and little enough for a cache of many pods. */
const mostPorts = 32;

export function keepPod(pod: Pod): Pod {
  const { managedFields: _, annotations: all, ...metadata } = pod.metadata;
  const ours = podAnnotations.filter((name) => all?.[name] !== undefined).map((name) => [name, all?.[name]]);
  const { initContainers, containers } = pod.spec;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: { ...metadata, annotations: Object.fromEntries(ours) },
    spec: {
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(keepInitContainer) }),
      containers: containers.map(keepContainer),
    },
    status: {
      ...(pod.status?.phase === undefined ? {} : { phase: pod.status.phase }),
      conditions: (pod.status?.conditions ?? []).map(({ type, status }) => ({ type, status })),
      ...keepAddresses(pod.status),
    },
  };
}

function keepContainer({ name, ports }: Container): Container {
  const kept = ourContainers.has(name) ? [] : (ports ?? []).filter(isTcp).slice(0, mostPorts).map(keepPort);
  return { name, ...(kept.length === 0 ? {} : { ports: kept }) };
}

/** What one that ends listened on is gone when the pod is ready; a sidecar's ports are its pod's. */
function keepInitContainer(container: Container): Container {
  const { name, restartPolicy } = container;
  const kept = restartPolicy === 'Always' ? keepContainer(container) : { name };
  return kept.ports === undefined ? kept : { ...kept, restartPolicy };
}

function isTcp({ protocol }: ContainerPort): boolean {
  return protocol === undefined || protocol === 'TCP';
}

function keepPort({ name, containerPort }: ContainerPort): ContainerPort {
  return name === undefined || name === '' ? { containerPort } : { name, containerPort };
}

/** `podIPs` says something more only where there are two. */
function keepAddresses({ podIP, podIPs = [] }: Pod['status'] & object = {}): Pod['status'] & object {
  return {
    ...(podIP === undefined ? {} : { podIP }),
    ...(podIPs.length < 2 ? {} : { podIPs: podIPs.map(({ ip }) => ({ ip })) }),
  };
}
