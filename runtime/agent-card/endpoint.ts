/** Finds where a workload's card is asked for: through one of its Services, or straight from a pod that is ready. */

import type { EndpointSlice, Pod, Service } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import { selects } from '../workload/services.ts';
import type { Workload } from '../workload/workload.ts';
import type { Endpoint, Endpoints } from './contact.ts';
import { isHeadless, type Offer, offerOf, rankOf } from './offer.ts';
import { type ReadyPod, readyPods } from './ready-pods.ts';
import { shortlist } from './shortlist.ts';
import { declaredPortOf, targetPortOf } from './pod-port.ts';
import { type Port, portText, type ServedPort } from './port.ts';

/** What is known around a workload. */
export interface Surroundings {
  readonly workload: Workload;
  /** Those that select a running pod of it (`servicesOf`). */
  readonly services: readonly Service[];
  /** Of a headless one among them (`slicesOf`). */
  readonly slicesOf: (service: Service) => readonly EndpointSlice[];
  /** Its running pods (`podsOf`). */
  readonly pods: readonly Pod[];
}

/** `message`: what was looked for, and what to do. Holds nothing that changes from pass to pass. */
export type Whereabouts =
  | { readonly found: Endpoints }
  | { readonly reason: 'ServiceNotFound' | 'WorkloadNotReady'; readonly message: string };

interface Candidate {
  readonly service: Service;
  readonly name: string;
  readonly offer: Offer;
  readonly rank: number;
  /** Would select any pod made from the template, not only some by labels of their own. */
  readonly isWhole: boolean;
  /** Those that it selects. */
  readonly ready: readonly ReadyPod[];
}

/** How pods are asked, and what to say where none of them can be. */
interface Way {
  readonly to: (pod: ReadyPod) => Omit<Endpoint, 'pod' | 'revision'> | undefined;
  readonly otherwise: Exclude<Whereabouts, { readonly found: Endpoints }>;
}

/**
 * The pods to ask, as many as count (`shortlist`). They are found by the Service with the annotation `rossoctl.io/port`, else one with a port named a2a, else one with another likely port, else a headless one
 * without ports, else the pods alone; among equals one that selects every pod, then the one named like the workload, then the first by name. A
 * Service that selects no ready pod is passed over, and waited for only where it would select any pod made from the template. Pods are asked themselves, at the port that the Service leads to on that very pod: behind the
 * Service's own address there may be pods of others, which would speak for it.
 * Addresses of headless Services count only where they are a ready pod's of this workload: an EndpointSlice that somebody wrote by hand leads nowhere.
 */
export function endpointOf(around: Surroundings): Whereabouts {
  const ready = readyPods(around.pods);
  if (ready.length === 0) return { reason: 'WorkloadNotReady', message: notReady(around) };
  const known = candidates(around, ready);
  const best = known.find((candidate) => candidate.ready.length > 0);
  const missed = best === undefined ? known.find(({ isWhole }) => isWhole) : undefined;
  if (missed !== undefined) return unselected(around, missed);
  const { to, otherwise } = wayOf(around, best);
  const reached = (best?.ready ?? ready).flatMap((pod) => {
    const place = to(pod);
    return place === undefined ? [] : [{ ...place, pod: pod.name, revision: pod.revision }];
  });
  const [first, ...others] = shortlist(reached);
  if (first !== undefined) return { found: [first, ...others] };
  const [partial] = best === undefined ? known : [];
  return partial === undefined ? otherwise : unselected(around, partial);
}

function wayOf(around: Surroundings, best: Candidate | undefined): Way {
  if (best === undefined) return viaPod(around);
  const { offer } = best;
  switch (offer.kind) {
    case 'invalid':
      return { to: () => undefined, otherwise: { reason: 'ServiceNotFound', message: offer.message } };
    case 'port':
      return isHeadless(best.service) ? viaSlice(around, best, offer.port) : viaService(around, best, offer.port);
    default:
      return viaPod(around, best);
  }
}

/** The best first. */
function candidates({ services, workload }: Surroundings, ready: readonly ReadyPod[]): readonly Candidate[] {
  return services
    .flatMap((service) => {
      const offer = offerOf(service);
      const rank = rankOf(offer);
      if (rank === undefined) return [];
      const selected = ready.filter(({ pod }) => selects(service, pod.metadata.labels ?? {}));
      const isWhole = selects(service, workload.templateLabels);
      return [{ service, name: service.metadata.name ?? '', offer, rank, isWhole, ready: selected }];
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.isWhole) - Number(a.isWhole) ||
        Number(b.name === workload.name) - Number(a.name === workload.name) ||
        byName(a, b),
    );
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name !== b.name);
}

function viaService({ workload }: Surroundings, { service, name }: Candidate, port: ServedPort): Way {
  return {
    to: ({ pod, addresses: [address = ''] }) => {
      const target = targetPortOf(pod, port);
      const host = serviceHost(service, port.number);
      const via = `Service ${name}, port ${portText(port)}`;
      return target === undefined ? undefined : { address, port: target, host, via };
    },
    otherwise: { reason: 'ServiceNotFound', message: aimless(workload, name, port) },
  };
}

function aimless(workload: Workload, service: string, port: ServedPort): string {
  const target = JSON.stringify(String(port.targetPort).slice(0, 64));
  return `Service ${service} leads port ${portText(port)} to ${target}, which no container in the ready pods of ${nameOf(workload)} calls a port. Correct targetPort, or name the container's port so`;
}

function viaSlice({ slicesOf, workload }: Surroundings, { service, name }: Candidate, port: Port): Way {
  const targets = slicesOf(service).flatMap((slice) => targetsOf(slice, port));
  return {
    to: (pod) => {
      const target = targets.find(({ address }) => pod.addresses.includes(address));
      if (target === undefined) return undefined;
      const via = `headless Service ${name}, port ${portText(port)}`;
      return { ...target, host: serviceHost(service, target.port), via };
    },
    otherwise: {
      reason: 'WorkloadNotReady',
      message: `Service ${name} does not list a ready pod of ${nameOf(workload)} yet; the card is fetched as soon as it does`,
    },
  };
}

/** Ports of a slice bear the names of the Service's ports; each slice has numbers of its own. */
function targetsOf(slice: EndpointSlice, port: Port): readonly { readonly address: string; readonly port: number }[] {
  const number = slice.ports?.find(({ name }) => (name ?? '') === (port.name ?? ''))?.port;
  if (number === undefined || slice.addressType === 'FQDN') return [];
  return (slice.endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses.map((address) => ({ address, port: number })));
}

function viaPod(around: Surroundings, best?: Candidate): Way {
  const number = best?.offer.kind === 'pods' ? best.offer.number : undefined;
  const through = best === undefined ? 'container' : `headless Service ${best.name},`;
  return {
    to: ({ pod, addresses: [address = ''] }) => {
      const port = number === undefined ? declaredPortOf(pod) : { number };
      if (port === undefined) return undefined;
      const host = best === undefined ? podHost(address, port.number) : serviceHost(best.service, port.number);
      return { address, port: port.number, host, via: `${through} port ${portText(port)}` };
    },
    otherwise: { reason: 'ServiceNotFound', message: nowhere(around) },
  };
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

function unselected({ workload }: Surroundings, { name }: Candidate): Whereabouts {
  const message = `Service ${name} selects no pod of ${nameOf(workload)} that is ready; the card is fetched as soon as it does`;
  return { reason: 'WorkloadNotReady', message };
}

function nowhere({ workload, services }: Surroundings): string {
  const [first] = services;
  const through =
    first === undefined
      ? `no Service of namespace ${workload.namespace} selects its pods`
      : `of the Services that select its pods none has a port for it (${services.slice(0, 3).map(described).join('; ')})`;
  return `Nothing says where ${nameOf(workload)} serves its card: ${through}, and the containers of its ready pods declare no port for it. Name a port a2a, or set annotation ${annotations.port} on the Service`;
}

function described({ metadata, spec }: Service): string {
  if (spec?.type === 'ExternalName') return `${metadata.name} is an ExternalName, which is not followed`;
  const ports = (spec?.ports ?? []).map(({ name, port }) => portText({ name, number: port }));
  return `${metadata.name}: ${ports.length === 0 ? 'no ports' : ports.slice(0, 8).join(', ')}`;
}
