import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { status } from '@grpc/grpc-js';
import { createWorkloadApi, type Ending } from '../../../../runtime/sidecar/spiffe/client.ts';
import { bytesOf } from '../../../../runtime/sidecar/wire/registry.ts';
import { jwtResponse, svidResponse } from './answers.ts';
import { folderIn, type Methods, type Once, scriptedAgent, type Streams } from './scripted-agent.ts';

/** A client of an agent that answers as a test says. */
async function agent(t: TestContext, methods: Methods) {
  const { socketPath } = await scriptedAgent(t, methods);
  return { api: clientOf(t, socketPath) };
}

function clientOf(t: TestContext, socketPath: string) {
  const api = createWorkloadApi(socketPath);
  t.after(() => api.close());
  return api;
}

const never = new AbortController().signal;
const id = 'spiffe://example.org/x';

test('messages come whole and in order, before the end; the request carries the header of the standard', async (t) => {
  const headers: unknown[] = [];
  const { api } = await agent(t, {
    FetchX509SVID: ((call) => {
      headers.push(call.metadata.get('workload.spiffe.io'));
      call.write(Buffer.from(svidResponse()));
      call.write(Buffer.from([1, 2, 3]));
      call.end();
    }) satisfies Streams,
  });
  const taken: Buffer[] = [];
  const ending = await api.x509Svids((bytes) => taken.push(Buffer.from(bytes)), never);
  assert.deepEqual(ending, { kind: 'ended', sentence: 'the SPIRE agent closed the stream' });
  assert.deepEqual(taken, [Buffer.from(svidResponse()), Buffer.from([1, 2, 3])]);
  assert.deepEqual(headers, [['true']]);
});

const answers: readonly (readonly [code: status, kind: Ending['kind'], says: RegExp])[] = [
  [status.PERMISSION_DENIED, 'no-entry', /^the SPIRE agent knows no entry \(said by the agent\)$/],
  [status.UNAVAILABLE, 'unreachable', /^the SPIRE agent does not answer at .*agent\.sock: said by the agent$/],
  [status.INVALID_ARGUMENT, 'failed', /^the SPIRE agent answered with INVALID_ARGUMENT: said by the agent$/],
  [status.UNIMPLEMENTED, 'failed', /^the SPIRE agent answered with UNIMPLEMENTED: /],
];
for (const [code, kind, says] of answers) {
  test(`${status[code]} is ${kind}, for streams and for single answers`, async (t) => {
    const error = { code, details: 'said by the agent' };
    const { api } = await agent(t, {
      FetchX509SVID: ((call) => call.emit('error', error)) satisfies Streams,
      FetchX509Bundles: ((call) => call.emit('error', error)) satisfies Streams,
      FetchJWTBundles: ((call) => call.emit('error', error)) satisfies Streams,
      FetchJWTSVID: ((_call, answer) => answer(error)) satisfies Once,
    });
    const endings = await Promise.all([
      api.x509Svids(() => assert.fail(), never),
      api.x509Bundles(() => assert.fail(), never),
      api.jwtBundles(() => assert.fail(), never),
      api.jwtSvid(['a'], id),
    ]);
    for (const ending of endings) {
      assert.ok('kind' in ending);
      assert.equal(ending.kind, kind);
      assert.match(ending.sentence, says);
    }
  });
}

test('a message beyond the bound ends the stream and is never taken', async (t) => {
  const { api } = await agent(t, {
    FetchX509SVID: ((call) => call.write(Buffer.alloc(4 * 1024 * 1024 + 1))) satisfies Streams,
  });
  const ending = await api.x509Svids(() => assert.fail(), never);
  assert.equal(ending.kind, 'failed');
  assert.match(ending.sentence, /RESOURCE_EXHAUSTED.*larger than max/);
});

test('the request for a JWT-SVID names audiences and identity, and the answer is handed on as it came', async (t) => {
  const asked: Buffer[] = [];
  const answer = Buffer.from(jwtResponse({ sub: id }));
  const { api } = await agent(t, {
    FetchJWTSVID: ((call, reply) => {
      asked.push(call.request);
      reply(null, answer);
    }) satisfies Once,
  });
  assert.deepEqual(await api.jwtSvid(['a', 'b'], id), answer);
  assert.deepEqual(asked, [Buffer.from(bytesOf('JWTSVIDRequest', { audience: ['a', 'b'], spiffeId: id }))]);
});

test('a stream ends with its signal, and every call with the client', async (t) => {
  const { api } = await agent(t, {
    FetchX509SVID: (() => {}) satisfies Streams,
    FetchX509Bundles: (() => {}) satisfies Streams,
  });
  const own = new AbortController();
  const first = api.x509Svids(() => {}, own.signal);
  const second = api.x509Bundles(() => {}, never);
  own.abort();
  await first;
  api.close();
  await second;
  assert.equal((await api.x509Svids(() => {}, never)).kind, 'ended');
  assert.ok('kind' in (await api.jwtSvid(['a'], id)));
});

test('an agent that hangs is one that does not answer, for a token and for a stream, and a stream that has begun may be silent', async (t) => {
  const { socketPath } = await scriptedAgent(t, {
    FetchX509SVID: (() => {}) satisfies Streams,
    FetchX509Bundles: ((call) => call.write(Buffer.from([1]))) satisfies Streams,
    FetchJWTSVID: (() => {}) satisfies Once,
  });
  const api = createWorkloadApi(socketPath, { tokenMs: 100, firstMs: 200 });
  t.after(() => api.close());
  const begun = api.x509Bundles(() => {}, never);
  const silent = (seconds: number) => ({
    kind: 'unreachable',
    sentence: `the SPIRE agent did not answer within ${seconds} s`,
  });
  assert.deepEqual(await api.jwtSvid(['a'], id), silent(0.1));
  assert.deepEqual(await api.x509Svids(() => assert.fail(), never), silent(0.2));
  assert.equal(await Promise.race([begun, Promise.resolve('goes on')]), 'goes on');
  const pending = api.jwtSvid(['a'], id);
  api.close();
  assert.ok('kind' in (await pending));
});

test('the agent that goes away and comes back is found by the next call', async (t) => {
  const socketPath = join(folderIn(t), 'agent.sock');
  const api = clientOf(t, socketPath);
  const absent = await api.x509Svids(() => assert.fail(), never);
  assert.equal(absent.kind, 'unreachable');
  assert.match(
    absent.sentence,
    /there is no such socket; the agent has not started on this node, or the socket is not mounted$/,
  );
  writeFileSync(socketPath, '');
  await new Promise((resolve) => setTimeout(resolve, 600));
  const dead = await api.x509Svids(() => assert.fail(), never);
  assert.match(dead.sentence, /nothing listens on it; the agent is not running$/);
});

test('what is no HTTP/2 server is an agent that cannot be reached', async (t) => {
  const socketPath = join(folderIn(t), 'agent.sock');
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const ending = await clientOf(t, socketPath).x509Svids(() => assert.fail(), never);
  assert.equal(ending.kind, 'unreachable');
});
