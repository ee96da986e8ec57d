/** Finds where a workload's card is asked for: through one of its Services, or straight from a pod that is ready. */

import type { EndpointSlice, Pod, Service } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import type { Workload } from '../workload/workload.ts';
import type { Endpoint } from './contact.ts';
import { isHeadless, type Offer, offerOf, rankOf } from './offer.ts';
import { cardPort, isTcp, type Port, portText, type ServedPort } from './port.ts';

/** What is known around a workload. */
export interface Surroundings {
  readonly workload: Workload;
  /** Those that select its pods (`servicesOf`). */
  readonly services: readonly Service[];
  /** Of a headless one among them (`slicesOf`). */
  readonly slicesOf: (service: Service) => readonly EndpointSlice[];
  /** Its running pods (`podsOf`). */
  readonly pods: readonly Pod[];
}

/** `message`: what was looked for, and what to do. Holds nothing that changes from pass to pass. */
export type Whereabouts =
  | { readonly found: Endpoint }
  | { readonly reason: 'ServiceNotFound' | 'WorkloadNotReady'; readonly message: string };

interface Candidate {
  readonly service: Service;
  readonly name: string;
  readonly offer: Offer;
  readonly rank: number;
}

interface ReadyPod {
  readonly name: string;
  readonly addresses: readonly string[];
}

/**
 * The Service with the annotation `rossoctl.io/port`, else one with a port named a2a, else one with another likely port, else a headless one
 * without ports, else the pods alone; among equals the one named like the workload, then the first by name. Pods are asked themselves, at the
 * port that the Service leads to. Addresses of headless Services count only where they are a ready pod's of this workload: an EndpointSlice that somebody wrote by hand leads nowhere.
 */
export function endpointOf(around: Surroundings): Whereabouts {
  const ready = around.pods.flatMap(readyPod);
  const [pod] = ready;
  if (pod === undefined) return { reason: 'WorkloadNotReady', message: notReady(around) };
  const [best] = candidates(around);
  if (best === undefined) return viaPod(around, pod);
  const { offer } = best;
  switch (offer.kind) {
    case 'invalid':
      return { reason: 'ServiceNotFound', message: offer.message };
    case 'port':
      return isHeadless(best.service)
        ? viaSlice(around, ready, best, offer.port)
        : viaService(around, pod, best, offer.port);
    default:
      return viaPod(around, pod, best);
  }
}

function candidates({ services, workload }: Surroundings): readonly Candidate[] {
  return services
    .flatMap((service) => {
      const offer = offerOf(service);
      const rank = rankOf(offer);
      return rank === undefined ? [] : [{ service, offer, rank, name: service.metadata.name ?? '' }];
    })
    .sort(
      (a, b) => a.rank - b.rank || Number(b.name === workload.name) - Number(a.name === workload.name) || byName(a, b),
    );
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name !== b.name);
}

function readyPod({ metadata: { name = '' }, status }: Pod): readonly ReadyPod[] {
  const isReady = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  const addresses = [status?.podIP ?? '', ...(status?.podIPs ?? []).map(({ ip }) => ip)].filter((ip) => ip !== '');
  return isReady === true && addresses.length > 0 ? [{ name, addresses }] : [];
}

/** On a pod of this workload: behind the Service's own address there may be pods of others, which would speak for it. */
function viaService(
  { workload }: Surroundings,
  pod: ReadyPod,
  { service, name }: Candidate,
  port: ServedPort,
): Whereabouts {
  const [address = ''] = pod.addresses;
  const target = targetOf(workload, port);
  if (target === undefined) return { reason: 'ServiceNotFound', message: aimless(workload, name, port) };
  const host = serviceHost(service, port.number);
  return { found: { address, port: target, host, via: `Service ${name}, port ${portText(port)}` } };
}

function targetOf(workload: Workload, { number, targetPort = 0 }: ServedPort): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? number : targetPort;
  return containerPorts(workload).find((port) => isTcp(port) && port.name === targetPort)?.number;
}

function aimless(workload: Workload, service: string, port: ServedPort): string {
  const target = JSON.stringify(String(port.targetPort).slice(0, 64));
  return `Service ${service} leads port ${portText(port)} to ${target}, which no container of ${nameOf(workload)} calls a port. Correct targetPort, or name the container's port so`;
}

function viaSlice(around: Surroundings, ready: readonly ReadyPod[], best: Candidate, port: Port): Whereabouts {
  const targets = around.slicesOf(best.service).flatMap((slice) => targetsOf(slice, port));
  for (const pod of ready) {
    const target = targets.find(({ address }) => pod.addresses.includes(address));
    if (target === undefined) continue;
    const host = serviceHost(best.service, target.port);
    return {
      found: { ...target, host, via: `headless Service ${best.name}, pod ${pod.name}, port ${portText(port)}` },
    };
  }
  const message = `Service ${best.name} does not list a ready pod of ${nameOf(around.workload)} yet; the card is fetched as soon as it does`;
  return { reason: 'WorkloadNotReady', message };
}

/** Ports of a slice bear the names of the Service's ports; each slice has numbers of its own. */
function targetsOf(slice: EndpointSlice, port: Port): readonly { readonly address: string; readonly port: number }[] {
  const number = slice.ports?.find(({ name }) => (name ?? '') === (port.name ?? ''))?.port;
  if (number === undefined || slice.addressType === 'FQDN') return [];
  return (slice.endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses.map((address) => ({ address, port: number })));
}

function viaPod(around: Surroundings, pod: ReadyPod, best?: Candidate): Whereabouts {
  const port = podPort(around.workload, best?.offer);
  const [address = ''] = pod.addresses;
  if (port === undefined) return { reason: 'ServiceNotFound', message: nowhere(around) };
  const through = best === undefined ? '' : `headless Service ${best.name}, `;
  const host = best === undefined ? podHost(address, port.number) : serviceHost(best.service, port.number);
  return { found: { address, port: port.number, host, via: `${through}pod ${pod.name}, port ${portText(port)}` } };
}

function podPort(workload: Workload, offer: Offer | undefined): Port | undefined {
  if (offer?.kind === 'pods' && offer.number !== undefined) return { number: offer.number };
  return cardPort(containerPorts(workload));
}

/** Of the containers proper: what init containers listen on is gone when the pod is ready, or is a sidecar's. */
function containerPorts({ row, object }: Workload): readonly Port[] {
  const containers = row.template(object)?.spec?.containers ?? [];
  return containers
    .flatMap(({ ports = [] }) => ports)
    .map(({ name, containerPort, protocol }) => ({ name, number: containerPort, protocol }));
}

function serviceHost({ metadata }: Service, port: number): string {
  return `${metadata.name}.${metadata.namespace}.svc:${port}`;
}

function podHost(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function nameOf({ row, name }: Workload): string {
  return `${row.kind} ${name}`;
}

function notReady({ workload, pods }: Surroundings): string {
  const what = pods.length === 0 ? 'has no running pod' : 'has no pod that is ready';
  return `${nameOf(workload)} ${what}; its card is fetched as soon as one is`;
}

function nowhere({ workload, services }: Surroundings): string {
  const [first] = services;
  const through =
    first === undefined
      ? `no Service of namespace ${workload.namespace} selects its pods`
      : `of the Services that select its pods none has a port for it (${services.slice(0, 3).map(described).join('; ')})`;
  return `Nothing says where ${nameOf(workload)} serves its card: ${through}, and its containers declare no port for it. Name a port a2a, or set annotation ${annotations.port} on the Service`;
}

function described({ metadata, spec }: Service): string {
  if (spec?.type === 'ExternalName') return `${metadata.name} is an ExternalName, which is not followed`;
  const ports = (spec?.ports ?? []).map(({ name, port }) => portText({ name, number: port }));
  return `${metadata.name}: ${ports.length === 0 ? 'no ports' : ports.slice(0, 8).join(', ')}`;
}
