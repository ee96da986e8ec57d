/** Finds the addresses of a host as the agent's own libraries would: by the pod's hosts file, search domains and DNS. */

import { lookup } from 'node:dns/promises';

/** Every address, in the order they were given; throws for a name that has none or cannot be looked up. */
export async function findAddresses(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
