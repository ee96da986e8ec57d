/** A TCP proxy that passes bytes to an API server until it is told to do harm. It understands nothing of what it passes. */

import { once } from 'node:events';
import net from 'node:net';
import { cutSocket } from './cut-socket.ts';

/**
 * `pass`: bytes go through. `black-hole`: connections stay open, bytes in either direction are thrown away. `slow`: so many bytes a second
 * to the client. `refuse`: new connections are closed at once, and the present ones are ended.
 */
export type Fault =
  | { readonly mode: 'pass' | 'black-hole' | 'refuse' }
  | { readonly mode: 'slow'; readonly bytesPerSecond: number };

export interface FaultProxy {
  readonly port: number;
  /** Holds for present and new connections. */
  set(fault: Fault): void;
  /** The present connections fall silent for good; new ones are not concerned. */
  silence(): void;
  /** Resets every present connection (RST). */
  reset(): void;
  /** Connections opened since the start. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Listens on a free loopback port. */
export async function startFaultProxy(upstreamPort: number): Promise<FaultProxy> {
  let fault: Fault = { mode: 'pass' };
  let connections = 0;
  const pairs = new Set<Pair>();
  const server = net.createServer((client) => {
    connections += 1;
    if (fault.mode === 'refuse') {
      cutSocket(client);
      return;
    }
    const pair = join(client, net.connect(upstreamPort, '127.0.0.1'), () => fault);
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const reset = (): void => pairs.forEach((pair) => pair.reset());
  return {
    port: address.port,
    set: (next) => {
      fault = next;
      if (next.mode === 'refuse') reset();
    },
    silence: () => pairs.forEach((pair) => pair.silence()),
    reset,
    get connections() {
      return connections;
    },
    close: async () => {
      reset();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Pair {
  silence(): void;
  reset(): void;
}

function join(client: net.Socket, upstream: net.Socket, fault: () => Fault): Pair {
  let isSilent = false;
  const isDeaf = (): boolean => isSilent || fault().mode === 'black-hole';
  const end = (): void => {
    cutSocket(client);
    cutSocket(upstream);
  };
  client.on('error', end).on('close', end);
  upstream.on('error', end).on('close', end);
  client.on('data', (chunk: Buffer) => {
    if (!isDeaf()) upstream.write(chunk);
  });
  upstream.on('data', (chunk: Buffer) => {
    const now = fault();
    if (isDeaf()) return;
    if (now.mode === 'slow') trickle({ chunk, from: upstream, to: client, bytesPerSecond: now.bytesPerSecond });
    else client.write(chunk);
  });
  return { silence: () => (isSilent = true), reset: end };
}

interface Trickle {
  readonly chunk: Buffer;
  readonly from: net.Socket;
  readonly to: net.Socket;
  readonly bytesPerSecond: number;
}

/** Twenty portions a second; the sender waits meanwhile. */
function trickle({ chunk, from, to, bytesPerSecond }: Trickle): void {
  const portion = Math.max(1, Math.round(bytesPerSecond / 20));
  from.pause();
  const next = (at: number): void => {
    if (to.destroyed) return;
    if (at >= chunk.length) {
      from.resume();
      return;
    }
    to.write(chunk.subarray(at, at + portion));
    setTimeout(next, 50, at + portion);
  };
  next(0);
}
