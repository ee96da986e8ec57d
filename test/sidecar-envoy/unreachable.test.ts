/** A destination that does not answer, with a real Envoy: the caller is told, and its connection ends, so that the next leads to whoever answers by then. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { after, before, test } from 'node:test';
import { type Bed, startBed } from './bed.ts';
import { type Answer, request } from './client.ts';

/** Nobody listens there, in the pod or outside of it. */
const closed = 4_321;

let bed: Bed;
before(async () => {
  bed = await startBed();
});
after(() => bed.stop());

const url = (port: number) => `http://${bed.namespace.ip}:${port}/`;

function assertTold({ status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>): void {
  assert.equal(status, 503);
  assert.match(body, /"error":"destination_unavailable"/);
  assert.equal(headers['x-rossoctl-unreachable'], undefined, 'the mark is ours alone');
}

test('of HTTP/1 the connection is closed with the answer, and kept with any other', async () => {
  const agent = new http.Agent({ keepAlive: true });
  const told = await request(url(closed), { agent });
  assertTold(told);
  assert.equal(told.headers.connection, 'close');
  const kept = await request(url(bed.agent.port), { agent });
  assert.equal(kept.status, 200);
  assert.notEqual(kept.headers.connection, 'close');
  agent.destroy();
});

test('of HTTP/2 it takes no more requests', async () => {
  const session = http2.connect(url(closed));
  const goaway = once(session, 'goaway');
  const stream = session.request({ ':path': '/' });
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  let body = '';
  for await (const piece of stream) body += String(piece);
  assertTold({ status: Number(headers[':status']), headers, body });
  await goaway;
  session.close();
});

test('the same of what the application calls', async () => {
  const {
    status = 0,
    headers = {},
    body = '',
  } = await bed.agent.call({
    url: `http://${bed.namespace.gateway}:${closed}/`,
    headers: { connection: 'keep-alive' },
  });
  assertTold({ status, headers, body });
  assert.equal(headers['connection'], 'close');
});
