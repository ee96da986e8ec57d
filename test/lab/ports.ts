// Finds ports nobody listens on and nobody else is about to.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { claimForLife } from './exclusive.ts';

// Below the range from which systems take ports for outgoing connections, so that a restarted server finds its
// port free again.
const firstPort = 20_000;
const lastPort = 32_000;

/** A port nobody listens on at any address; given to no other process of this machine while this one lives. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if ((await claimForLife(`port ${port}`)) && (await isFree(port))) return port;
  }
}

// Without an address every one is asked for, and the system refuses when the port is taken at any of them.
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
