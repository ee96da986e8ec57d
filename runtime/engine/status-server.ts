/** The plain HTTP server for probes and scrapes: `/healthz`, `/readyz` and `/metrics`. */

import fastify, { type FastifyReply } from 'fastify';
import { type Health, type HealthReport, renderHealth } from './health.ts';
import type { Metrics } from './metrics.ts';
import { type ConnectionLimits, keepNewest } from './newest-connections.ts';
import { listen, portOf } from './server.ts';

export interface StatusServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: every address. */
  readonly host?: string;
  readonly health: Health;
  readonly metrics: Metrics;
  /** How long one scrape serves others too, in milliseconds: for a port that strangers reach. Default 0. */
  readonly metricsAgeMs?: number;
  /** Default 128, and 32 of one address: whoever looks after a process needs a few. */
  readonly connections?: ConnectionLimits;
}

export interface StatusServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Nobody who asks here takes long: connections that rest, and requests that come slowly, are ended. */
const patience = {
  http: { connectionsCheckingInterval: 1_000, headersTimeout: 5_000, maxHeaderSize: 8_192 },
  requestTimeout: 5_000,
  connectionTimeout: 10_000,
  keepAliveTimeout: 5_000,
} as const;

/** Listens. `close` takes no grace: it is the last to go, so that a draining process can say so. */
export async function serveStatus(options: StatusServerOptions): Promise<StatusServer> {
  const { health, metrics, metricsAgeMs = 0, connections = { total: 128, perSource: 32 } } = options;
  const app = fastify({ ...patience, bodyLimit: 1024, forceCloseConnections: true, logger: false });
  keepNewest(app.server, connections);
  const scrape = remembered(() => metrics.text(), metricsAgeMs);
  app.get('/healthz', (request, reply) => send(reply, health.healthz(), request.query));
  app.get('/readyz', (request, reply) => send(reply, health.readyz(), request.query));
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await scrape()));
  await listen(app, options);
  return { port: portOf(app.server), close: () => app.close() };
}

function remembered<T>(make: () => Promise<T>, ageMs: number): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly untilMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (last === undefined || nowMs >= last.untilMs) last = { value: make(), untilMs: nowMs + ageMs };
    return last.value;
  };
}

function send(reply: FastifyReply, report: HealthReport, query: unknown): FastifyReply {
  const isVerbose = typeof query === 'object' && query !== null && 'verbose' in query;
  return reply
    .code(report.ok ? 200 : 503)
    .header('cache-control', 'no-store')
    .type(isVerbose ? 'application/json' : 'text/plain; charset=utf-8')
    .send(renderHealth(report, isVerbose));
}
