/** The init container's own rules and a real Envoy together: what arrives and what leaves is decided, and neither can be gone around. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../runtime/sidecar/decision.ts';
import { type Bed, pass, startBed } from './bed.ts';
import { request } from './client.ts';

let bed: Bed;
const tool = http.createServer((incoming, response) => response.end(`tool: ${incoming.headers.authorization}`));
let toolPort: number;
before(async () => {
  bed = await startBed({ isCapturedForReal: true });
  tool.listen(0, '::');
  await once(tool, 'listening');
  toolPort = (tool.address() as AddressInfo).port;
});
after(async () => {
  tool.close();
  await bed.stop();
});

const denied: Refusal = { kind: 'refuse', reason: 'no_token', status: 401, error: 'invalid_token', description: 'No.' };

test('what arrives is decided on every address and port', async () => {
  for (const host of [bed.namespace.ip, `[${bed.namespace.ip6}]`]) {
    bed.rule('inbound', () => denied);
    assert.equal((await request(`http://${host}:${bed.agent.port}/`)).status, 401, host);
    assert.equal((await request(`http://${host}:9/`)).status, 401, host);
    bed.rule('inbound', () => pass);
    const answer = await request(`http://${host}:${bed.agent.port}/`);
    assert.equal(answer.status, 200, host);
    assert.equal(answer.json().path, '/');
  }
});

test('what leaves is decided, over IPv4 and IPv6', async () => {
  bed.rule('outbound', () => ({ ...pass, set: { authorization: 'Bearer for-the-tool' } }));
  for (const host of [bed.namespace.gateway, `[${bed.namespace.gateway6}]`]) {
    const said = await bed.agent.call({ url: `http://${host}:${toolPort}/` });
    assert.equal(said.body, 'tool: Bearer for-the-tool', host);
  }
});

test("nobody gets through by a dial of the sidecar's own ports", async () => {
  bed.rule('inbound', () => pass);
  const count = bed.heads.length;
  for (const port of Object.values(bed.intent.ports)) {
    await assert.rejects(request(`http://${bed.namespace.ip}:${port}/`), `${port}`);
    for (const host of ['127.0.0.1', bed.namespace.ip, '[::1]', `[${bed.namespace.ip6}]`]) {
      const { error } = await bed.agent.call({ url: `http://${host}:${port}/` });
      assert.match(String(error), /ECONNRE(SET|FUSED)/, `${host}:${port}`);
    }
  }
  assert.equal(bed.heads.length, count);
});

test('the application speaks to itself undisturbed', async () => {
  const count = bed.heads.length;
  for (const host of ['127.0.0.1', bed.namespace.ip]) {
    assert.equal((await bed.agent.call({ url: `http://${host}:${bed.agent.port}/` })).status, 200, host);
  }
  assert.equal(bed.heads.length, count);
});
