/** The agents of a cluster test: one HTTP server that answers each by its `Host` header, and may misbehave for each. */

import { createServer, type ServerResponse } from 'node:http';
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** Every endpoint leads here. */
    reach: (): Pick<Endpoint, 'address' | 'port'> => ({ address: '127.0.0.1', port }),
    behave: (host: string, behaviour: Behaviour) => void behaviours.set(host, behaviour),
    asked: (host: string) => requests.get(host) ?? 0,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Agents = Awaited<ReturnType<typeof startAgents>>;
