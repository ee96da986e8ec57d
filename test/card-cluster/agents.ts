/** The agents of a cluster test: one HTTP server that answers each by its `Host` header, and may misbehave for each; or one for a pod's own address. */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '../../runtime/agent-card/contact.ts';

const wellKnown: readonly string[] = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

/** How an agent answers either well-known path. */
export type Behaviour = (response: ServerResponse) => void;

export const serves =
  (body: string): Behaviour =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

export const answers =
  (code: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    void response.writeHead(code, headers).end();

/** Never says a word. */
export const hangs: Behaviour = () => {};

/** A byte now and then, without an end. */
export const drips: Behaviour = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 200);
  response.on('close', () => clearInterval(timer));
};

/** As fast as it is read, without an end. */
export const floods: Behaviour = (response) => {
  response.writeHead(200);
  const chunk = Buffer.alloc(65_536, ' ');
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

export async function startAgents() {
  const behaviours = new Map<string, Behaviour>();
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    const host = request.headers.host ?? '';
    requests.set(host, (requests.get(host) ?? 0) + 1);
    response.on('error', () => {});
    const behaviour = wellKnown.includes(request.url ?? '') ? behaviours.get(host) : undefined;
    (behaviour ?? answers(404))(response);
  });
  const port = await listening(server);
  const places = new Map<string, number>();
  const servers = [server];
  return {
    /** Every endpoint leads here, but for those of `serveAt`. */
    reach: ({ address, port: of }: Endpoint): Pick<Endpoint, 'address' | 'port'> => ({
      address: '127.0.0.1',
      port: places.get(`${address}:${of}`) ?? port,
    }),
    /** Who listens at one pod's address and port: `10.9.0.1:8080`. Asks are counted under that. */
    serveAt: async (place: string, behaviour: Behaviour): Promise<void> => {
      const own = createServer((_, response) => {
        requests.set(place, (requests.get(place) ?? 0) + 1);
        response.on('error', () => {});
        behaviour(response);
      });
      servers.push(own);
      places.set(place, await listening(own));
    },
    behave: (host: string, behaviour: Behaviour) => void behaviours.set(host, behaviour),
    asked: (host: string) => requests.get(host) ?? 0,
    stop: async (): Promise<void> => {
      await Promise.all(servers.map(closed));
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  return new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export type Agents = Awaited<ReturnType<typeof startAgents>>;
