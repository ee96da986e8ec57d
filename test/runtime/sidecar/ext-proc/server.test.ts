/** The processor as Envoy would talk to it, over its socket. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http2, { type ClientHttp2Session } from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { systemClock } from '../../../../runtime/engine/clock.ts';
import { createLog } from '../../../../runtime/engine/log.ts';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import type { Decide, Decision } from '../../../../runtime/sidecar/decision.ts';
import { firstMessage, framed } from '../../../../runtime/sidecar/envoy/grpc/frame.ts';
import { type Processor, serveProcessor } from '../../../../runtime/sidecar/ext-proc/server.ts';
import { messageOf } from '../../../../runtime/sidecar/wire/registry.ts';

const requestType = messageOf('envoy.service.ext_proc.v3.ProcessingRequest');
const responseType = messageOf('envoy.service.ext_proc.v3.ProcessingResponse');
const headers = { headers: { headers: [{ key: ':path', rawValue: Buffer.from('/') }] } };
const asked = framed(
  toBinary(requestType, create(requestType, { request: { case: 'requestHeaders', value: headers } })),
);

interface Served {
  readonly session: ClientHttp2Session;
  readonly metrics: ReturnType<typeof createMetrics>;
}

async function served(
  options: Partial<Parameters<typeof serveProcessor>[0]>,
  use: (served: Served) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-processor-'));
  const socket = path.join(folder, 'processor.sock');
  const metrics = createMetrics({ process: false });
  const pass: Decide = () => ({ kind: 'pass', reason: 'test' });
  const processor: Processor = await serveProcessor({
    socket,
    rules: { inbound: pass, outbound: pass },
    clock: systemClock,
    log: createLog({ level: 'silent', name: 'test' }),
    metrics,
    ...options,
  });
  const session = http2.connect('http://processor', { createConnection: () => net.connect(socket) });
  session.on('error', () => undefined);
  try {
    await use({ session, metrics });
  } finally {
    session.destroy();
    processor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const call = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';

function ask(session: ClientHttp2Session, direction: 'inbound' | 'outbound') {
  const stream = session.request({ ':method': 'POST', ':path': call, 'rossoctl-direction': direction });
  stream.on('error', () => undefined);
  stream.write(asked);
  return stream;
}

interface Answered {
  readonly response: { readonly case: string; readonly value: { readonly status?: { readonly code: number } } };
}

/** As Envoy does, it looks at the first message and not at how the call ends. */
async function answerOf(stream: ReturnType<typeof ask>): Promise<Answered['response']> {
  let arrived: Buffer = Buffer.alloc(0);
  while (true) {
    const [chunk] = (await once(stream, 'data')) as [Buffer];
    arrived = Buffer.concat([arrived, chunk]);
    const first = firstMessage(arrived, 1_000_000);
    if (first.kind === 'message') return (fromBinary(responseType, first.bytes) as unknown as Answered).response;
  }
}

test('above what may be decided at once a request is refused with 503, in its own direction alone', async () => {
  const gate = Promise.withResolvers<Decision>();
  const slow: Decide = () => gate.promise;
  const pass: Decide = () => ({ kind: 'pass', reason: 'test' });
  const rules = { inbound: slow, outbound: pass };
  await served({ rules, room: { requests: 2 } }, async ({ session, metrics }) => {
    const waiting = [ask(session, 'inbound'), ask(session, 'inbound')];
    const refused = await answerOf(ask(session, 'inbound'));
    assert.deepEqual([refused.case, refused.value.status?.code], ['immediateResponse', 503]);
    assert.equal((await answerOf(ask(session, 'outbound'))).case, 'requestHeaders');
    gate.resolve({ kind: 'pass', reason: 'test' });
    for (const each of await Promise.all(waiting.map(answerOf))) assert.equal(each.case, 'requestHeaders');
    assert.equal((await answerOf(ask(session, 'inbound'))).case, 'requestHeaders');
    assert.match(await metrics.text(), /direction="inbound",decision="refuse",reason="overload",mtls="false"\} 1/);
  });
});

test('without room, what needs no waiting is still answered, and a rule is told to begin nothing', async () => {
  const waits = Promise.withResolvers<Decision>();
  const rooms: boolean[] = [];
  let isOpen = false;
  const inbound: Decide = (_head, signal) => {
    rooms.push(!signal.aborted);
    return isOpen ? { kind: 'pass', reason: 'bypass' } : waits.promise;
  };
  const rules = { inbound, outbound: inbound };
  await served({ rules, room: { requests: 1 } }, async ({ session, metrics }) => {
    const waiting = ask(session, 'inbound');
    const refused = await answerOf(ask(session, 'inbound'));
    assert.deepEqual([refused.case, refused.value.status?.code], ['immediateResponse', 503]);
    isOpen = true;
    assert.equal((await answerOf(ask(session, 'inbound'))).case, 'requestHeaders');
    assert.deepEqual(rooms, [true, false, false]);
    waits.resolve({ kind: 'pass', reason: 'test' });
    assert.equal((await answerOf(waiting)).case, 'requestHeaders');
    assert.match(await metrics.text(), /direction="inbound",decision="refuse",reason="overload",mtls="false"\} 1/);
  });
});
