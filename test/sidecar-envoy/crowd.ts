/** Many callers: opens connections to one address, sends one request on each, and holds them open until it is told to end. */

import { once } from 'node:events';
import net from 'node:net';

export interface Crowd {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** What each sends; empty: nothing. */
  readonly request: string;
}

/** How many are open and have been answered 200. */
export interface Told {
  readonly open: number;
  readonly good: number;
}

/** As many at a time as the kernel takes without dropping any. */
const atOnce = 200;

async function come({ host, port, connections, request }: Crowd, told: { open: number; good: number }): Promise<void> {
  const one = async (): Promise<void> => {
    const socket = net.connect({ host, port, noDelay: true });
    socket.on('error', () => undefined);
    socket.on('close', () => (told.open -= 1));
    told.open += 1;
    await once(socket, 'connect').catch(() => undefined);
    if (request === '' || socket.destroyed) return;
    socket.write(request);
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    if (Buffer.isBuffer(chunk) && chunk.toString('latin1').startsWith('HTTP/1.1 200')) told.good += 1;
  };
  for (let left = connections; left > 0; left -= atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, left) }, one));
  }
}

const told = { open: 0, good: 0 };
process.on('message', (crowd: Crowd | 'count') => {
  if (crowd === 'count') process.send?.(told);
  else void come(crowd, told).then(() => process.send?.(told));
});
process.on('disconnect', () => process.exit());
