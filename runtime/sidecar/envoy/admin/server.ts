/** What a person may see of Envoy, on the pod's loopback: its own pages, read only. */

import fastify from 'fastify';
import { sentenceOf } from '../../../engine/errors.ts';
import { listen, portOf } from '../../../engine/server.ts';
import type { AdminClient } from './client.ts';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Envoy's pages that change nothing and hold no secret (keys in `/config_dump` are blanked by Envoy). All others (shutting down, draining,
 * log levels, profiles) are not here, whatever the method: whoever runs in the pod reaches this port.
 */
export const pages: readonly string[] = [
  '/certs',
  '/clusters',
  '/config_dump',
  '/listeners',
  '/memory',
  '/ready',
  '/server_info',
  '/stats',
  '/stats/prometheus',
];

const text = 'text/plain; charset=utf-8';

/** Parameters that are passed on; they choose and shape what is shown. */
const parameters: readonly string[] = ['filter', 'format', 'mask', 'name_regex', 'resource', 'usedonly'];

/** Pages that are made at a time: the thread of Envoy that makes them is the one that takes configuration, and each is held here whole. */
const mostAtOnce = 2;

/** Listens on 127.0.0.1 alone; port 0 is any free one. */
export async function serveAdmin(port: number, client: Pick<AdminClient, 'get'>): Promise<AdminServer> {
  const app = fastify({ bodyLimit: 1024, requestTimeout: 5_000, forceCloseConnections: true, logger: false });
  app.get('/', (_request, reply) => reply.type(text).send(`${pages.join('\n')}\n`));
  let underWay = 0;
  for (const page of pages) {
    app.get(page, async (request, reply) => {
      if (underWay >= mostAtOnce) {
        return reply.code(503).header('retry-after', '1').type(text).send('other pages are being made: ask again\n');
      }
      underWay += 1;
      try {
        const { status, contentType, body } = await client.get(`${page}${query(request.query)}`);
        return reply.code(status).header('cache-control', 'no-store').type(contentType).send(body);
      } catch (error) {
        return reply
          .code(503)
          .type(text)
          .send(`Envoy does not answer: ${sentenceOf(error)}\n`);
      } finally {
        underWay -= 1;
      }
    });
  }
  await listen(app, { port, host: '127.0.0.1' });
  return { port: portOf(app.server), close: () => app.close() };
}

function query(given: unknown): string {
  const entries = Object.entries(given ?? {}).filter(
    ([name, value]) => parameters.includes(name) && typeof value === 'string',
  );
  const text = new URLSearchParams(entries as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
}
