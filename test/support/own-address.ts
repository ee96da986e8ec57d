/** An address of this machine that an operator takes for a pod's: cards are never fetched from the loopback. */

import { networkInterfaces } from 'node:os';

export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const found = all.find(({ internal, family }) => !internal && family === 'IPv4');
  if (found === undefined) throw new Error('this machine has no IPv4 address but that of the loopback');
  return found.address;
}
