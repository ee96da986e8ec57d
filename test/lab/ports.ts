// Finds loopback ports nobody listens on.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range from which systems take ports for outgoing connections, so that a restarted server finds its
// port free again.
const firstPort = 20_000;
const lastPort = 32_000;

/** A port nobody listens on at `address` now. */
export async function findFreePort(address = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(address, port)) return port;
  }
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
