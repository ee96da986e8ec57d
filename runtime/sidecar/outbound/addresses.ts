/** Says whether a request goes where its host says: the token made for a host must not reach another. */

import { isAddress, sameAddress } from '../../encoding/authority.ts';
import type { Clock } from '../../engine/clock.ts';
import { createLru } from '../../signature/lru.ts';
import { untilAborted } from '../idp/until-aborted.ts';

/** `elsewhere`: the host is at `address` instead. `unknown`: nobody can say. */
export type Place =
  | { readonly kind: 'there' }
  | { readonly kind: 'elsewhere'; readonly address: string }
  | { readonly kind: 'unknown' };

/** Rejects when the signal has ended before. */
export type PlaceOf = (host: string, destination: string | undefined, signal: AbortSignal) => Promise<Place>;

export interface AddressesOptions {
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  /** How long an answer counts, in milliseconds. Default 5,000. */
  readonly ttlMs?: number;
  /** How long at least, even when a request goes to an address that was not in it. Default 1,000. */
  readonly leastMs?: number;
}

interface Known {
  /** None when it could not be looked up. */
  readonly addresses: readonly string[];
  readonly atMs: number;
}

const mostHosts = 1_000;
/** Look-ups under way. They outlive the requests that wanted them, so that whoever opens and ends many would have any number of them. */
const mostLookups = 256;

/**
 * Compares destinations with what hosts resolve to. Behind a name whose addresses change, such as that of a headless Service, the agent may
 * have heard of a new one first: then the host is looked up again before anything is redirected.
 */
export function createAddresses({ resolve, clock, ttlMs = 5_000, leastMs = 1_000 }: AddressesOptions): PlaceOf {
  const known = createLru<Known>(mostHosts);
  const lookups = new Map<string, Promise<Known>>();

  function look(host: string): Promise<Known> {
    const running = lookups.get(host);
    if (running !== undefined) return running;
    if (lookups.size >= mostLookups) return Promise.resolve({ addresses: [], atMs: clock.monotonicMs() });
    const looking = resolve(host)
      .catch((): readonly string[] => [])
      .then((found) => {
        const fresh = { addresses: found.map(sameAddress), atMs: clock.monotonicMs() };
        known.set(host, fresh, 1);
        lookups.delete(host);
        return fresh;
      });
    lookups.set(host, looking);
    return looking;
  }

  return async (host, destination, signal) => {
    signal.throwIfAborted();
    const wanted = destination === undefined ? undefined : sameAddress(destination);
    if (isAddress(host)) return host === wanted ? { kind: 'there' } : { kind: 'elsewhere', address: host };
    const held = known.get(host);
    const ageMs = held === undefined ? Infinity : clock.monotonicMs() - held.atMs;
    const isIn = wanted !== undefined && held?.addresses.includes(wanted) === true;
    const isGood = held !== undefined && ageMs < (isIn ? ttlMs : leastMs);
    const { addresses = [] } = (isGood ? held : await untilAborted(look(host), signal)) ?? {};
    if (wanted !== undefined && addresses.includes(wanted)) return { kind: 'there' };
    const [address] = addresses;
    return address === undefined ? { kind: 'unknown' } : { kind: 'elsewhere', address };
  };
}
