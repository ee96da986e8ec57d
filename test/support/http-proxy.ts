/** An HTTPS proxy in front of an API server that writes down every request and answers chosen ones itself. */

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { once } from 'node:events';
import path from 'node:path';
import type { ControlPlane } from '../lab/control-plane.ts';

export interface Recorded {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** `performance.now()` when it arrived. */
  readonly atMs: number;
  readonly userAgent: string;
  /** The body, for requests that have one. */
  body: string;
}

/** What the proxy says instead of the API server. `after`: passes the request on, and what comes back follows this line. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The first answer that is not undefined is given; none: the API server answers. */
export type Rule = (request: Recorded) => Answer | undefined;

export interface HttpProxy {
  readonly port: number;
  readonly requests: Recorded[];
  /** Adds a rule; returns its removal. */
  rule(rule: Rule): () => void;
  /** Presents these files' certificate at new connections. */
  useCertificate(files: CertificateFiles): void;
  /** Ends every connection. */
  dropConnections(): void;
  /** Writes a line into every watch that is open, as if the API server had sent it. Returns how many there were. */
  injectLine(match: (request: Recorded) => boolean, line: string): number;
  close(): Promise<void>;
}

export interface CertificateFiles {
  readonly dir: string;
  /** File name without extension. */
  readonly name: string;
}

/** Requests with a bearer token go on with it; others as the cluster's administrator. */
export async function startHttpProxy(plane: ControlPlane, certificate: CertificateFiles): Promise<HttpProxy> {
  const requests: Recorded[] = [];
  const rules = new Set<Rule>();
  const sessions = new Set<{ destroy(): void }>();
  const watches = new Map<Recorded, http2.Http2ServerResponse>();
  const upstream = upstreamOf(plane);
  const server = http2.createSecureServer({ ...material(certificate), allowHTTP1: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const recorded: Recorded = {
        method: request.method,
        url: request.url,
        atMs: performance.now(),
        userAgent: request.headers['user-agent'] ?? '',
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(recorded);
      for (const rule of rules) {
        const answer = rule(recorded);
        if (answer !== undefined) return give(response, answer);
      }
      if (recorded.url.includes('watch=true')) {
        watches.set(recorded, response);
        response.on('close', () => watches.delete(recorded));
      }
      return forward({ upstream, request, body: Buffer.concat(chunks), response });
    });
  });
  server.on('connection', (socket) => {
    sessions.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sessions.delete(socket));
  });
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const dropConnections = (): void => sessions.forEach((session) => session.destroy());
  return {
    port: address.port,
    requests,
    rule: (rule) => {
      rules.add(rule);
      return () => void rules.delete(rule);
    },
    useCertificate: (files) => server.setSecureContext(material(files)),
    dropConnections,
    injectLine: (match, line) => {
      const open = [...watches].filter(([recorded]) => match(recorded));
      for (const [, response] of open) response.write(`${line}\n`);
      return open.length;
    },
    close: async () => {
      dropConnections();
      upstream.admin.destroy();
      upstream.bearer.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function material({ dir, name }: CertificateFiles) {
  return { cert: readFileSync(path.join(dir, `${name}.crt`)), key: readFileSync(path.join(dir, `${name}.key`)) };
}

interface Upstream {
  readonly url: URL;
  readonly admin: https.Agent;
  readonly bearer: https.Agent;
}

function upstreamOf({ server, certificatesDir }: ControlPlane): Upstream {
  const ca = readFileSync(path.join(certificatesDir, 'ca.crt'));
  return {
    url: new URL(server),
    admin: new https.Agent({ keepAlive: true, ca, ...material({ dir: certificatesDir, name: 'admin' }) }),
    bearer: new https.Agent({ keepAlive: true, ca }),
  };
}

function give(response: http2.Http2ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body ?? statusBody(status)));
}

const reasons: Readonly<Record<number, string>> = { 410: 'Expired', 429: 'TooManyRequests', 503: 'ServiceUnavailable' };

function statusBody(status: number) {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason: reasons[status] ?? '',
    message: '',
  };
}

const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') && !hopByHop.has(name)));
}

interface Forwarding {
  readonly upstream: Upstream;
  readonly request: http2.Http2ServerRequest;
  readonly body: Buffer;
  readonly response: http2.Http2ServerResponse;
}

function forward({ upstream, request, body, response }: Forwarding): void {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => !name.startsWith(':') && name !== 'connection' && name !== 'host',
    ),
  );
  const out = https.request({
    host: upstream.url.hostname,
    port: upstream.url.port,
    method: request.method,
    path: request.url,
    headers: body.length === 0 ? headers : { ...headers, 'content-length': body.length },
    agent: headers['authorization'] === undefined ? upstream.admin : upstream.bearer,
  });
  out.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    answer.pipe(response);
    answer.on('error', () => response.stream?.destroy());
  });
  out.on('error', () => response.stream?.destroy());
  response.on('close', () => out.destroy());
  out.end(body);
}
