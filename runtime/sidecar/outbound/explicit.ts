/** Decides what comes to the explicit proxy: by the rules for captured calls, and with the address that no connection tells. */

import { authorityOf, isAddress, sameAddress } from '../../encoding/authority.ts';
import type { Decide, Decision, Endpoint, Refusal, RequestHead } from '../decision.ts';
import type { PlaceOf } from './addresses.ts';
import { defaultPort, isOwn } from './decide.ts';
import type { FindAddresses } from './find.ts';
import { outboundRefusal } from './refusals.ts';
import { type Route, routeOf } from './routes.ts';

export interface ExplicitOptions {
  /** The rules for captured calls. */
  readonly outbound: Decide;
  readonly routes: readonly Route[];
  readonly placeOf: PlaceOf;
  /** The pod's own addresses. */
  readonly own: readonly string[];
  /** Where the proxy listens. */
  readonly port: number;
}

/**
 * A request for the proxy itself says by its host alone where it goes, so each that passes is given an address here. What comes out of a tunnel
 * has its destination already, and is decided like a captured call. Passing on to the proxy itself would never end, and is refused.
 */
export function createExplicit(options: ExplicitOptions): Decide {
  const { outbound, own, port } = options;
  return (head, signal) => {
    const { destination } = head;
    const isProxied = destination === undefined || (destination.port === port && isOwn(destination.address, own));
    if (!isProxied) return outbound(head, signal);
    return head.method === 'CONNECT' ? tunnelled(options, head, signal) : proxied(options, head, signal);
  };
}

async function proxied(options: ExplicitOptions, head: RequestHead, signal: AbortSignal): Promise<Decision> {
  if (head.values(':scheme')[0] === 'https') return outboundRefusal('not-a-tunnel');
  const decision = await options.outbound({ ...head, destination: undefined }, signal);
  if (decision.kind === 'refuse') return decision;
  const authority = authorityOf(head.authority);
  if (authority === undefined) return outboundRefusal('authority');
  const wanted = { host: authority.host, port: authority.port ?? defaultPort };
  const destination = decision.destination ?? (await placed(options, wanted, signal));
  if ('kind' in destination) return destination;
  return { ...decision, destination, remove: [...(decision.remove ?? []), ...forTheProxy] };
}

/** What was meant for us and for nobody behind us (RFC 9110, section 11.7.2). */
const forTheProxy = ['proxy-authorization'];

/** A tunnel needs no token; that its host may not be called holds for TLS as well. */
async function tunnelled(options: ExplicitOptions, head: RequestHead, signal: AbortSignal): Promise<Decision> {
  const authority = authorityOf(head.authority);
  if (authority?.port === undefined) return outboundRefusal('authority', { description: needsPort });
  if (routeOf(options.routes, authority.host)?.action === 'deny') return outboundRefusal('denied');
  const destination = await placed(options, { host: authority.host, port: authority.port }, signal);
  return 'kind' in destination ? destination : { kind: 'pass', reason: 'tunnel', destination };
}

const needsPort = 'a tunnel needs a host with its port: CONNECT HOST:PORT';

async function placed(
  { placeOf, own, port: ours }: ExplicitOptions,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Endpoint | Refusal> {
  const place = await placeOf(host, undefined, signal);
  if (place.kind !== 'elsewhere' || !isAddress(place.address)) {
    return outboundRefusal('unresolved', { description: 'the host cannot be looked up' });
  }
  return port === ours && isOwn(place.address, own) ? outboundRefusal('loop') : { address: place.address, port };
}

/** Looks hosts up with the addresses first that this pod can reach for sure: those of the family of its own. */
export function ownFamilyFirst(resolve: FindAddresses, own: readonly string[]): FindAddresses {
  const isV6 = own[0] !== undefined && sameAddress(own[0]).includes(':');
  return async (host) => {
    const found = await resolve(host);
    const isSame = (address: string) => address.includes(':') === isV6;
    return [...found.filter(isSame), ...found.filter((address) => !isSame(address))];
  };
}
