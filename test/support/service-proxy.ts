/** Stands in for a Service where there is no kube-proxy: one loopback port in front of every operator process that says it is ready. */

import { once } from 'node:events';
import net from 'node:net';
import { cutSocket } from './cut-socket.ts';
import type { OperatorProcess } from './operator-process.ts';

export interface ServiceProxy {
  readonly port: number;
  /** Takes a process among the back ends; from then on its readiness is probed. */
  add(operator: OperatorProcess): void;
  /** Names of those that get connections now. */
  readonly ready: readonly string[];
  close(): Promise<void>;
}

const probeEveryMs = 100;

interface Backend {
  readonly operator: OperatorProcess;
  readonly sockets: Set<net.Socket>;
  isReady: boolean;
}

/**
 * Listens on a free loopback port. Connections to a back end that is no longer ready are reset, so that no admission waits for a
 * process that a test has made stand still. A connection with nobody ready is reset, as a Service without endpoints refuses it.
 */
export async function startServiceProxy(): Promise<ServiceProxy> {
  const backends = new Set<Backend>();
  let turn = 0;
  const server = net.createServer((client) => {
    const ready = [...backends].filter(({ isReady }) => isReady);
    const backend = ready[turn++ % Math.max(1, ready.length)];
    if (backend === undefined) cutSocket(client);
    else join(client, backend);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const ending = new AbortController();
  const follow = async (backend: Backend): Promise<void> => {
    while (!ending.signal.aborted && backend.operator.isRunning) {
      const wasReady = backend.isReady;
      backend.isReady = (await backend.operator.readiness())?.ok === true;
      if (wasReady && !backend.isReady) backend.sockets.forEach((socket) => cutSocket(socket));
      await pauseOf(probeEveryMs, ending.signal);
    }
    backend.isReady = false;
    backend.sockets.forEach((socket) => cutSocket(socket));
    backends.delete(backend);
  };
  const following = new Set<Promise<void>>();
  return {
    port: address.port,
    add: (operator) => {
      const backend: Backend = { operator, sockets: new Set(), isReady: false };
      backends.add(backend);
      following.add(follow(backend));
    },
    get ready() {
      return [...backends].filter(({ isReady }) => isReady).map(({ operator }) => operator.name);
    },
    close: async () => {
      ending.abort();
      await Promise.all(following);
      server.close();
      await once(server, 'close');
    },
  };
}

function join(client: net.Socket, { operator, sockets }: Backend): void {
  const upstream = net.connect(operator.webhookPort, '127.0.0.1');
  sockets.add(client);
  const end = (): void => {
    sockets.delete(client);
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  client.pipe(upstream);
  upstream.pipe(client);
}

function pauseOf(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
