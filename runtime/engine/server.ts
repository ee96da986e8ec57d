/** The HTTPS server of the webhooks: TLS that reloads, limits on what a client may send, and an end that refuses nobody. */

import { Buffer } from 'node:buffer';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Admission } from './admission.ts';
import { deadlineFrom } from './admission-deadline.ts';
import { bodyBudget } from './body-budget.ts';
import { BodyExceeds, gather } from '../encoding/gather.ts';
import type { Health } from './health.ts';
import type { Live, Log, Webhook } from './types.ts';

/** A certificate chain, leaf first, and its key, both PEM. */
export interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface WebhookServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: every address. */
  readonly host?: string;
  readonly certificate: Live<ServingCertificate>;
  readonly webhooks: readonly Webhook[];
  readonly admission: Admission;
  readonly health: Health;
  readonly log: Log;
  /** Largest body, in bytes. Default 6 MiB: two objects of the 3 MiB that the API server itself accepts. */
  readonly bodyLimit?: number;
  /** Bytes of the bodies over 64 KiB that may be received or judged at once; the next is answered 429. Default 64 MiB. */
  readonly bodyBudget?: number;
  /** For a client to send its whole request, in milliseconds. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** Most open connections; further ones are closed. Default 1,000. */
  readonly maxConnections?: number;
}

export interface DrainOptions {
  /** How long requests are still taken once `readyz` fails: until every proxy knows. Milliseconds, default 5,000. */
  readonly lingerMs?: number;
  /** How long requests under way may then take, in milliseconds. Default 10,000. */
  readonly graceMs?: number;
}

export interface RunningServer {
  readonly port: number;
  /** Not ready → linger → no new connections → wait for what is under way → closed. A second call waits for the first. */
  close(drain?: DrainOptions): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** Beyond the 90 s after which Go's client drops an idle connection, so that we never close one that it is about to use. */
const keepAliveMs = 120_000;

/** Listens, and follows `certificate` until closed: new handshakes see a new certificate, open connections live on. */
export async function serveWebhooks(options: WebhookServerOptions): Promise<RunningServer> {
  const { certificate, health, log } = options;
  const app = webhookApp(options);
  addRoutes(app, options);
  const stopFollowing = certificate.subscribe((next) => {
    try {
      app.server.setSecureContext(secureContext(next));
      log.info('serving certificate replaced');
    } catch (error) {
      log.error('serving certificate refused, the previous one stays', { error });
    }
  });
  await listen(app, options).catch((error: unknown) => {
    stopFollowing();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    port: portOf(app.server),
    close: (drain = {}) => (closing ??= closeGracefully({ app, health, stopFollowing }, drain)),
  };
}

type WebhookApp = FastifyInstance<Server>;

/** HTTP/1.1: the API server speaks nothing else to webhooks (Kubernetes issue 75791). */
function webhookApp(options: WebhookServerOptions): WebhookApp {
  const { bodyLimit = 6 * mebibyte, requestTimeoutMs = 15_000, maxConnections = 1_000 } = options;
  const app = fastify({
    https: {
      ...secureContext(options.certificate.current),
      handshakeTimeout: 10_000,
      headersTimeout: Math.min(10_000, requestTimeoutMs),
      connectionsCheckingInterval: 1_000,
    },
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    logger: false,
  });
  app.server.maxConnections = maxConnections;
  app.removeAllContentTypeParsers();
  const budget = bodyBudget(options.bodyBudget ?? 64 * mebibyte);
  app.addHook('onRequest', (request, reply, done) => {
    // JSON is what is meant, whatever the header says, or if there is none.
    request.raw.headers['content-type'] = 'application/json';
    const release = budget.take(Math.min(declaredLength(request), bodyLimit));
    if (release === undefined) {
      say(reply, 429, 'too many large bodies are being received; try again');
    } else {
      reply.raw.once('close', release);
      done();
    }
  });
  app.addContentTypeParser('*', (request: FastifyRequest, payload: AsyncIterable<Uint8Array>) => {
    const declared = declaredLength(request);
    if (declared > bodyLimit && declared < Infinity) return Promise.reject(new BodyExceeds('bytes', bodyLimit));
    return gather(payload, { maxBytes: bodyLimit });
  });
  app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    // What is left of the body is not waited for.
    if (error instanceof BodyExceeds) return say(reply.header('connection', 'close'), 413, error.message);
    const status = error.statusCode ?? 500;
    return say(reply, status >= 500 ? 500 : status, 'the request cannot be read');
  });
  app.setNotFoundHandler((request, reply) => say(reply, 404, `there is no webhook for ${request.method} on this path`));
  return app;
}

/** Bytes; a body that comes in chunks may be of any size. */
function declaredLength({ headers }: FastifyRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
}

function secureContext({ certificate, key }: ServingCertificate) {
  return { cert: certificate, key, minVersion: 'TLSv1.2' as const };
}

function addRoutes(app: WebhookApp, { webhooks, admission }: WebhookServerOptions): void {
  for (const webhook of webhooks) {
    app.post(webhook.path, async (request: FastifyRequest<{ Querystring: { timeout?: unknown } }>, reply) => {
      const { timeout } = request.query;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const answer = await admission.answer(
        webhook,
        body,
        deadlineFrom(typeof timeout === 'string' ? timeout : undefined),
      );
      if (answer.status !== 200) return say(reply, answer.status, answer.body);
      return reply.type('application/json').send(answer.body);
    });
  }
}

/** Plain text: the API server then repeats the sentence to the user. */
function say(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  if (status === 429) void reply.header('retry-after', '1');
  return reply.code(status).type('text/plain; charset=utf-8').send(`${sentence}\n`);
}

/** Listens on `host`; by default on every address, IPv6 included where the machine has it. */
export async function listen(
  app: Pick<FastifyInstance, 'listen'>,
  { port, host }: { readonly port: number; readonly host?: string },
): Promise<void> {
  try {
    await app.listen({ port, host: host ?? '::' });
  } catch (error) {
    const hasIPv6 = !(error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT');
    if (host !== undefined || hasIPv6) throw error;
    await app.listen({ port, host: '0.0.0.0' });
  }
}

/** The port a server listens on. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

interface Closing {
  readonly app: WebhookApp;
  readonly health: Health;
  readonly stopFollowing: () => void;
}

async function closeGracefully({ app, health, stopFollowing }: Closing, drain: DrainOptions): Promise<void> {
  const { lingerMs = 5_000, graceMs = 10_000 } = drain;
  const ready = health.ready('shutdown', () => 'the process is shutting down');
  // A connection that is told to end after an answer is not closed under a request that is on its way.
  app.server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  await sleep(lingerMs);
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(cut);
  stopFollowing();
  ready();
}
