/** Agents as they are met: HTTP servers that answer as told, and sockets that obey no protocol. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Endpoint } from '../../../runtime/agent-card/contact.ts';

export interface Request {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Agent {
  readonly endpoint: Endpoint;
  /** In the order they came. */
  readonly requests: readonly Request[];
  /** Resolves when no connection is open any more. */
  readonly quiet: () => Promise<void>;
  /** Bytes written to connections that have ended. */
  readonly written: () => number;
}

export type Answering = (response: ServerResponse, request: IncomingMessage) => void;

/** An agent that answers each path as told, and 404 elsewhere. */
export function agent(t: TestContext, answers: Readonly<Record<string, Answering>>): Promise<Agent> {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push({ path, headers: request.headers });
    response.on('error', () => {});
    const answer = answers[path] ?? answers['*'];
    if (answer === undefined) response.writeHead(404).end('not found');
    else answer(response, request);
  });
  return started(t, server, requests);
}

/** A socket that says what it wants once it has been asked something. */
export function rawAgent(t: TestContext, speak: (socket: Socket) => void): Promise<Agent> {
  const server = createTcpServer((socket) => socket.once('data', () => speak(socket)));
  return started(t, server, []);
}

export const json =
  (value: unknown, headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answering =>
  (response) =>
    response.writeHead(code, headers).end(body);

/** Writes as fast as it is read, until nobody reads. */
export function withoutEnd(socket: Socket | ServerResponse, chunk: Uint8Array): void {
  const more = (): void => {
    while (!socket.destroyed) if (!socket.write(chunk)) return;
  };
  socket.on('drain', more);
  more();
}

async function started(t: TestContext, server: Server, requests: readonly Request[]): Promise<Agent> {
  const open = new Set<Socket>();
  let written = 0;
  let onQuiet = (): void => {};
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      written += socket.bytesWritten;
      open.delete(socket);
      if (open.size === 0) onQuiet();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: {
      pod: 'weather-1',
      revision: '',
      address: '127.0.0.1',
      port,
      host: `weather.team1.svc:${port}`,
      via: 'Service weather, port a2a',
    },
    requests,
    quiet: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => (onQuiet = resolve))),
    written: () => written,
  };
}
