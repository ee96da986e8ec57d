/** The application in the pod: servers of several kinds, and calls outwards, both as the test tells it by messages. */

import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import type { Call, Order, Said } from './agent.ts';

const waiting = new Map<string, ServerResponse>();

function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://application');
  const held = url.searchParams.get('held');
  if (held !== null) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    waiting.set(held, response);
    process.send?.({ held });
    return;
  }
  const hash = createHash('sha256');
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  request.on('end', () => {
    const { method, url: path, rawHeaders, httpVersion } = request;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ method, path, httpVersion, headers: pairs(rawHeaders), bytes, sha256: hash.digest('hex') }),
    );
  });
}

function pairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : []));
}

function start(port: number): Promise<void> {
  const server = http.createServer(serve);
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  const second = http2.createServer();
  second.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    const isHeld = headers[':path']?.includes('held=') ?? false;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: !isHeld });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    if (!isHeld) stream.end(JSON.stringify({ authorization: headers.authorization ?? '' }));
  });
  return new Promise((resolve) => server.listen(port, '::', () => second.listen(port + 1, '::', resolve)));
}

/** One request; its answer as it is. Errors are said by their code. */
function call({ url, method, headers, body }: Call): Promise<Said> {
  return new Promise((resolve) => {
    // A proxy is asked by the authority alone.
    const path = method === 'CONNECT' ? { path: String(headers?.['host']) } : {};
    const options = { method: method ?? 'GET', headers: headers ?? {}, agent: false, ...path };
    const sent = http.request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => resolve({ error: error.message }));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('connect', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? error.message }));
    sent.end(body);
  });
}

async function callHttp2({ url, headers, tunnel }: Call): Promise<Said> {
  const { host, pathname } = new URL(url);
  const socket = tunnel === undefined ? undefined : await tunnelled({ ...tunnel, tunnel: host });
  return new Promise((resolve) => {
    const session = http2.connect(url, socket === undefined ? {} : { createConnection: () => socket });
    const stream = session.request({ ':path': pathname, ':method': 'POST', ...headers });
    let status: number | undefined;
    let body = '';
    stream.on('response', (head) => {
      status = head[':status'];
    });
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    stream.on('error', (error) => resolve({ error: error.message }));
    stream.on('close', () => {
      session.close();
      resolve({ status, body });
    });
    stream.end();
  });
}

/** A connection: what comes first, after what is sent if anything is. */
async function connect(to: NonNullable<Order['connect']>): Promise<Said> {
  const { host, port, isTls, send, tunnel } = to;
  const begun = performance.now();
  const way = tunnel === undefined ? { host, port } : { socket: await tunnelled({ host, port, tunnel }) };
  return new Promise((resolve) => {
    const socket = isTls
      ? tls.connect({ ...way, rejectUnauthorized: false, servername: 'tool.test' })
      : net.connect({ host, port });
    const end = (said: Said) => {
      socket.destroy();
      resolve({ ...said, ms: performance.now() - begun });
    };
    socket.on(isTls ? 'secureConnect' : 'connect', () => send !== undefined && socket.write(send));
    socket.on('data', (chunk: Buffer) => {
      const peer = socket instanceof tls.TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
      end({ body: chunk.toString(), ...(peer === undefined ? {} : { peer }) });
    });
    socket.on('end', () => end({ error: 'closed' }));
    socket.on('error', (error: NodeJS.ErrnoException) => end({ error: error.code ?? error.message }));
  });
}

/** A connection to where a proxy's tunnel ends. */
function tunnelled({ host, port, tunnel }: { host: string; port: number; tunnel: string }): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host, port, method: 'CONNECT', path: tunnel, agent: false });
    asked.on('connect', (_response, socket) => resolve(socket));
    asked.on('error', reject);
    asked.end();
  });
}

function converse({ host, port, send }: NonNullable<Order['converse']>): Promise<Said> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const rest = [...send];
    let body = '';
    const next = () => {
      const text = rest.shift();
      if (text !== undefined) socket.write(text);
    };
    socket.on('connect', next);
    socket.on('data', (chunk: Buffer) => {
      body += chunk.toString();
      next();
    });
    socket.on('error', (error) => resolve({ body, error: error.message }));
    socket.on('close', () => resolve({ body }));
  });
}

async function obey(order: Order): Promise<Said> {
  if (order.listen !== undefined) await start(order.listen);
  if (order.call !== undefined) return order.call.isHttp2 === true ? callHttp2(order.call) : call(order.call);
  if (order.converse !== undefined) return converse(order.converse);
  if (order.connect !== undefined) return connect(order.connect);
  if (order.push !== undefined) {
    const response = waiting.get(order.push.held);
    response?.write(order.push.text);
    if (order.push.isLast === true) response?.end();
  }
  return {};
}

process.on('message', (message: { readonly id: number; readonly order: Order }) => {
  void obey(message.order).then((said) => process.send?.({ id: message.id, said }));
});
process.on('disconnect', () => process.exit());
