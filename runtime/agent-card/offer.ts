/** What a Service offers for fetching a card: a port, only the pods behind it, or nothing, and how sure that is. */

import type { Service } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import { cardPort, isTcp, type Port, portText, type ServedPort } from './port.ts';

export type Offer =
  /** The annotation says so, the port is named a2a, or it only looks like it. */
  | { readonly kind: 'port'; readonly port: ServedPort; readonly by: 'annotated' | 'named' | 'likely' }
  /** A headless Service without ports: whatever its pods listen on; the number, when the annotation says one. */
  | { readonly kind: 'pods'; readonly number: number | undefined }
  | { readonly kind: 'none' }
  /** The annotation says what cannot be. */
  | { readonly kind: 'invalid'; readonly message: string };

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/** A Service that is an alias, or has no address yet, offers nothing. */
export function offerOf(service: Service): Offer {
  const { spec, metadata } = service;
  if (spec?.type === 'ExternalName' || !spec?.clusterIP) return { kind: 'none' };
  const ports = (spec.ports ?? []).map(({ port, ...rest }) => ({ ...rest, number: port }));
  const wanted = metadata.annotations?.[annotations.port];
  if (wanted !== undefined) return annotated(service, wanted.trim(), ports);
  if (ports.length === 0) return isHeadless(service) ? { kind: 'pods', number: undefined } : { kind: 'none' };
  const port = cardPort(ports);
  return port === undefined ? { kind: 'none' } : { kind: 'port', port, by: port.name === 'a2a' ? 'named' : 'likely' };
}

/** By how much speaks for it, the most first; `undefined`: there is nothing to ask. */
export function rankOf(offer: Offer): number | undefined {
  switch (offer.kind) {
    case 'invalid':
      return ranks.annotated;
    case 'port':
      return ranks[offer.by];
    case 'pods':
      return offer.number === undefined ? ranks.pods : ranks.annotated;
    default:
      return undefined;
  }
}

const ranks = { annotated: 0, named: 1, likely: 2, pods: 3 } as const;

function annotated(service: Service, wanted: string, ports: readonly ServedPort[]): Offer {
  const port = ports.find((one) => isTcp(one) && (one.name === wanted || String(one.number) === wanted));
  if (port !== undefined) return { kind: 'port', port, by: 'annotated' };
  const number = portNumber(wanted);
  if (ports.length === 0 && isHeadless(service) && number !== undefined) return { kind: 'pods', number };
  return { kind: 'invalid', message: notAPort(service, wanted, ports) };
}

function portNumber(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= 1 && number <= 65_535 ? number : undefined;
}

function notAPort({ metadata }: Service, wanted: string, ports: readonly Port[]): string {
  const known = ports.filter(isTcp).map(portText).slice(0, 8).join(', ');
  const choice = known === '' ? 'It has no TCP ports; give a number from 1 to 65535' : `Its TCP ports are ${known}`;
  return `Service ${metadata.name}: annotation ${annotations.port} says ${JSON.stringify(wanted.slice(0, 64))}, which is none of its ports. ${choice}`;
}
