/** The plain HTTP server for probes and scrapes: `/healthz`, `/readyz` and `/metrics`. */

import fastify, { type FastifyReply } from 'fastify';
import { type Health, type HealthReport, renderHealth } from './health.ts';
import type { Metrics } from './metrics.ts';
import { listen, portOf } from './server.ts';

export interface StatusServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: every address. */
  readonly host?: string;
  readonly health: Health;
  readonly metrics: Metrics;
}

export interface StatusServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens. `close` takes no grace: it is the last to go, so that a draining process can say so. */
export async function serveStatus(options: StatusServerOptions): Promise<StatusServer> {
  const { health, metrics } = options;
  const app = fastify({ bodyLimit: 1024, requestTimeout: 5_000, forceCloseConnections: true, logger: false });
  app.get('/healthz', (request, reply) => send(reply, health.healthz(), request.query));
  app.get('/readyz', (request, reply) => send(reply, health.readyz(), request.query));
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  await listen(app, options);
  return { port: portOf(app.server), close: () => app.close() };
}

function send(reply: FastifyReply, report: HealthReport, query: unknown): FastifyReply {
  const isVerbose = typeof query === 'object' && query !== null && 'verbose' in query;
  return reply
    .code(report.ok ? 200 : 503)
    .header('cache-control', 'no-store')
    .type(isVerbose ? 'application/json' : 'text/plain; charset=utf-8')
    .send(renderHealth(report, isVerbose));
}
