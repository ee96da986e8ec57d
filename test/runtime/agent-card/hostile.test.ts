/** AC-04: agents that lie, stall, flood or point elsewhere; each is given up with its reason, and its connection is closed. */

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { sentence } from '../../../runtime/agent-card/answer.ts';
import type { Fetched } from '../../../runtime/agent-card/contact.ts';
import { createFetcher } from '../../../runtime/agent-card/fetch.ts';
import { type Agent, agent, type Answering, rawAgent, withoutEnd } from './agents.ts';
import { floods } from './flood-rows.ts';
import { mebibyte, rows, send, zeros } from './hostile-rows.ts';

const newPath = '/.well-known/agent-card.json';

/** Nobody is late here unless that is the point: how busy the machine is must not decide what is found wrong with an agent. */
const patientMs = 600_000;

async function outcome({ endpoint }: Agent, timeoutMs = patientMs): Promise<Fetched> {
  const ask = createFetcher({ timeoutMs, reach: ({ address, port }) => ({ address, port }) });
  return ask(endpoint, undefined, new AbortController().signal);
}

for (const { what, answer, raw, reason, cause, timeoutMs } of [...rows, ...floods])
  test(`AC-04: ${what}: ${reason}`, async (t) => {
    const one =
      raw === undefined ? await agent(t, answer === undefined ? {} : { '*': answer }) : await rawAgent(t, raw);
    const result = await outcome(one, timeoutMs);
    assert.equal(result.kind === 'failed' ? result.reason : result.kind, reason);
    const message = result.kind === 'failed' ? result.message : '';
    assert.match(message, cause);
    assert.ok(message.startsWith(`http://127.0.0.1:${one.endpoint.port}`), message);
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    assert.ok(message.length <= 500 && !/[\u0000-\u001f\u007f-\u009f]/.test(message), message);
    await one.quiet();
  });

test('AC-04: a bomb is not inflated to its end, and a stream is not read to its end', async (t) => {
  const endless = async (headers: Readonly<Record<string, string>>, chunk: Uint8Array): Promise<number> => {
    const one = await agent(t, { '*': (response) => withoutEnd(response.writeHead(200, headers), chunk) });
    await outcome(one);
    await one.quiet();
    return one.written();
  };
  // What the kernel's buffers of both sides hold was written, too: a few MiB, never the next request's worth.
  assert.ok((await endless({}, Buffer.alloc(65_536, ' '))) < 32 * mebibyte);
  assert.ok((await endless({ 'content-encoding': 'gzip' }, zeros)) < 32 * mebibyte);
});

test('AC-04: whatever compression says, a card in it is read', async (t) => {
  const card = '{"name":"Weather"}';
  const bodies = { gzip: gzipSync(card), deflate: deflateSync(card), identity: Buffer.from(card) };
  for (const [encoding, body] of Object.entries(bodies)) {
    const one = await agent(t, { [newPath]: send(body, { 'content-encoding': encoding }) });
    const result = await outcome(one);
    assert.equal(result.kind === 'card' ? Buffer.from(result.body).toString() : result, card);
  }
});

test('AC-04: exactly the limit is read, one byte more is not', async (t) => {
  const sized = (size: number): Answering => send(`{"name":"${'x'.repeat(size - 11)}"}`);
  assert.equal((await outcome(await agent(t, { '*': sized(mebibyte) }))).kind, 'card');
  assert.deepEqual(reasonOf(await outcome(await agent(t, { '*': sized(mebibyte + 1) }))), 'TooLarge');
});

test('AC-04: what an agent sends is quoted without its escapes', async (t) => {
  const location = 'http://x\u001b[31m\u009b/';
  const one = await rawAgent(t, (socket) =>
    socket.end(Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: zs\u009btd\u00ff\r\n\r\n${location}`, 'latin1')),
  );
  const result = await outcome(one);
  assert.match(result.kind === 'failed' ? result.message : '', /compressed as zs tdÿ, which is not understood$/);
});

test('a port that nobody listens on refuses the connection', async (t: TestContext) => {
  const one = await agent(t, {});
  const ask = createFetcher({ reach: () => ({ address: '127.0.0.1', port: 1 }) });
  const result = await ask(one.endpoint, undefined, new AbortController().signal);
  assert.deepEqual(result, {
    kind: 'failed',
    reason: 'ConnectionFailed',
    message: `http://127.0.0.1:${one.endpoint.port}${newPath} (pod weather-1, Service weather, port a2a) cannot be reached: the connection is refused`,
  });
});

test('a failure names the pod that was asked and its port, not the Service’s, and stays short whatever the names are', () => {
  const endpoint = { pod: 'roll-7d9f-x', revision: '7d9f', address: '10.244.0.14', port: 8081, host: 'roll.t4.svc:80' };
  const via = 'Service roll, port http 80';
  assert.equal(
    sentence({ ...endpoint, via }, newPath, 'answered 500'),
    `http://10.244.0.14:8081${newPath} (pod roll-7d9f-x, Service roll, port http 80) answered 500`,
  );
  assert.match(
    sentence({ ...endpoint, via, address: 'fd00::1' }, '', 'answered 500'),
    /^http:\/\/\[fd00::1\]:8081 \(pod /,
  );
  const long = sentence({ ...endpoint, pod: 'p'.repeat(253), via }, `/${'x'.repeat(9_000)}`, 'answered 500');
  assert.match(long, /^http:.*… \(pod p+…\) answered 500$/);
});

function reasonOf(result: Fetched): string {
  return result.kind === 'failed' ? result.reason : result.kind;
}
