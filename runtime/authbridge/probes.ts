/** The requests by which the kubelet looks after a pod's own containers: the proxy must let exactly these in without a token. */

import type { Asking, Container, PodSpec } from '../api/kubernetes.ts';

/** As the sidecar's variable `PROBES` has it. */
export interface ProbedPath {
  readonly port: number;
  readonly path: string;
}

const grpcHealth = '/grpc.health.v1.Health/Check';
/** More than the sidecar takes; a pod with so many is probed at each of them by hand. */
const most = 64;
/** Characters. The sidecar would not start with a longer one. */
const longest = 1_024;

/**
 * Every HTTP and gRPC probe of the pod's own containers, distinct, in their order. No lifecycle hook: what a hook asks for does something, and would be open to everybody. A port that is given by name is that of the
 * container; an unknown name is nothing, for the kubelet cannot ask either. TLS is not what the proxy can look into, so `scheme: HTTPS` is left
 * out: such a port is to be excluded by annotation. TCP probes need no path: a connection is enough.
 */
export function probedPaths(spec: PodSpec): readonly ProbedPath[] {
  const all = [...(spec.initContainers ?? []), ...spec.containers]
    .flatMap(ofContainer)
    .filter(({ path }) => path.length <= longest);
  const distinct = new Map(all.map((probed) => [`${probed.port} ${probed.path}`, probed]));
  return [...distinct.values()].slice(0, most);
}

function ofContainer(container: Container): readonly ProbedPath[] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const asked = [startupProbe, livenessProbe, readinessProbe];
  return asked.flatMap((asking) => (asking === undefined || asking === null ? [] : ofAsking(asking, container)));
}

function ofAsking({ httpGet, grpc }: Asking, container: Container): readonly ProbedPath[] {
  if (grpc !== undefined) return [{ port: grpc.port, path: grpcHealth }];
  if (httpGet === undefined || httpGet.scheme?.toUpperCase() === 'HTTPS') return [];
  const port = portOf(httpGet.port, container);
  const path = httpGet.path === undefined || httpGet.path === '' ? '/' : httpGet.path;
  return port === undefined ? [] : [{ port, path: path.startsWith('/') ? path : `/${path}` }];
}

/** The number behind a port that is asked; digits in quotes are a number to the kubelet. Undefined: the container has no port of that name. */
export function portOf(port: number | string, { ports }: Container): number | undefined {
  if (typeof port === 'number') return port;
  if (/^\d{1,5}$/.test(port)) return Number(port);
  return ports?.find(({ name }) => name === port)?.containerPort;
}
