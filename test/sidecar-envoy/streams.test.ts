/** What takes long or flows in both directions passes a real Envoy with the processor: nothing is buffered, nothing is cut. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import type { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { type Bed, pass, startBed, until } from './bed.ts';

const renewed = () => ({ ...pass, set: { authorization: 'Bearer new' } }) as const;

let bed: Bed;
before(async () => {
  bed = await startBed({ rules: { inbound: renewed } });
});
after(() => bed.stop());

const url = (path: string, port = bed.agent.port) => `http://${bed.namespace.ip}:${port}${path}`;

test('server-sent events arrive one by one, each when it is sent', async () => {
  const request = http.get(url('/sse?held=events'), { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(response.headers['content-type'], 'text/event-stream');
  const chunks = response.iterator();
  for (const text of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
    await bed.agent.push('events', text);
    const { value } = (await chunks.next()) as { readonly value: Buffer };
    assert.equal(value.toString(), text);
  }
  await bed.agent.push('events', '', true);
  assert.equal((await chunks.next()).done, true);
});

test('a stream is decided once: it goes on when the same request would be refused by now', async () => {
  const held = http.get(url('/?held=decided'), { agent: false });
  const [response] = (await once(held, 'response')) as [IncomingMessage];
  bed.rule('inbound', () => ({
    kind: 'refuse',
    reason: 'expired',
    status: 401,
    error: 'invalid_token',
    description: '',
  }));
  await bed.agent.push('decided', 'still', true);
  let body = '';
  for await (const part of response) body += String(part);
  bed.rule('inbound', renewed);
  assert.equal(body, 'still');
});

test('a WebSocket is opened and carries bytes both ways', async () => {
  const headers = { connection: 'upgrade', upgrade: 'websocket' };
  const request = http.get(url('/ws'), { headers, agent: false });
  const [response, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex];
  assert.equal(response.statusCode, 101);
  socket.write('hello');
  const [echoed] = (await once(socket, 'data')) as [Buffer];
  assert.equal(echoed.toString(), 'hello');
  socket.destroy();
});

test('HTTP/2 goes on as HTTP/2, with trailers: gRPC works', async () => {
  const session = http2.connect(url('/', bed.agent.port + 1));
  const stream = session.request({ ':path': '/a2a.A2AService/SendMessage', ':method': 'POST', te: 'trailers' });
  const trailers = once(stream, 'trailers') as Promise<[http2.IncomingHttpHeaders]>;
  let body = '';
  stream.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  stream.end();
  const [last] = await trailers;
  await once(stream, 'close');
  session.close();
  assert.equal(last['grpc-status'], '0');
  assert.deepEqual(JSON.parse(body), { authorization: 'Bearer new' });
});

test('a refused gRPC call is told in the terms of gRPC', async () => {
  bed.rule('inbound', () => ({
    kind: 'refuse',
    reason: 'no',
    status: 401,
    error: 'invalid_token',
    description: 'No.',
  }));
  const session = http2.connect(url('/', bed.agent.port + 1));
  const stream = session.request({ ':path': '/a/B', ':method': 'POST', 'content-type': 'application/grpc' });
  stream.end();
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  stream.resume();
  await once(stream, 'close');
  session.close();
  bed.rule('inbound', () => pass);
  assert.equal(headers[':status'], 200);
  assert.equal(headers['grpc-status'], '16', 'UNAUTHENTICATED');
  assert.match(String(headers['grpc-message']), /No\./);
});

test('100 MB pass, as they were, and neither Envoy nor we hold them', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'rossoctl');
  const sent = createHash('sha256');
  const request = http.request(url('/upload'), { method: 'POST', agent: false });
  const response = once(request, 'response') as Promise<[IncomingMessage]>;
  let highest = 0;
  for (let count = 0; count < 100; count += 1) {
    sent.update(chunk);
    if (!request.write(chunk)) await once(request, 'drain');
    if (count % 20 === 0) highest = Math.max(highest, await allocated());
  }
  request.end();
  const [answer] = await response;
  let body = '';
  for await (const part of answer) body += String(part);
  const { bytes, sha256 } = JSON.parse(body) as { readonly bytes: number; readonly sha256: string };
  assert.equal(bytes, 100 * chunk.length);
  assert.equal(sha256, sent.digest('hex'));
  assert.ok(highest < 64 * 1024 * 1024, `Envoy had ${highest} bytes allocated`);
});

async function allocated(): Promise<number> {
  return (await bed.admin.stats('^server\\.memory_allocated$')).get('server.memory_allocated') ?? Number.NaN;
}

test('more streams than a load balancer would allow may be open at once, and hold nothing of the processor', async () => {
  const count = 1_500;
  const second = url('/', bed.agent.port + 1);
  // A hundred on each: Envoy takes no more of one connection.
  const sessions = Array.from({ length: count / 100 }, () => http2.connect(second));
  const opened = Array.from({ length: count }, async (_, at) => {
    const session = sessions[at % sessions.length];
    assert.ok(session !== undefined);
    const stream = session.request({ ':path': '/?held=many' });
    stream.on('error', () => undefined);
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    return String(headers[':status']);
  });
  const statuses = await Promise.all(opened);
  assert.deepEqual(new Set(statuses), new Set(['200']));
  const name = 'cluster.processor.upstream_rq_active';
  await until(async () => (await bed.admin.stats(name)).get(name) === 0);
  assert.equal(
    (await bed.admin.stats('^http.inbound.downstream_rq_active$')).get('http.inbound.downstream_rq_active'),
    count,
  );
  for (const session of sessions) session.destroy();
});
