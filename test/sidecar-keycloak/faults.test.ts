/** What no Keycloak can be made to answer: pages, floods of bytes, drops by the second, silence; by a server that does. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type TestContext } from 'node:test';
import { jwksOf, nowSeconds, signed, testKey } from '../runtime/sidecar/inbound/fixtures.ts';
import { bearer, inbound, outbound, type Realm } from './bed.ts';

const key = await testKey('k1');

type Fault = (reply: ServerResponse) => void;

/** Until the other side has had enough. */
function endless(reply: ServerResponse): void {
  if (!reply.destroyed) reply.write('{"keys":['.padEnd(65_536), () => setImmediate(endless, reply));
}

function dripping(reply: ServerResponse): void {
  const timer = setInterval(() => reply.write(' '), 100);
  reply.once('close', () => clearInterval(timer));
}

const faults: Readonly<Record<string, Fault>> = {
  'a page': (reply) => void reply.setHeader('content-type', 'text/html').end('<html>sign in</html>'),
  'bytes without end': endless,
  'a byte now and then': dripping,
  silence: () => undefined,
  'a connection that is cut': (reply) => void reply.socket?.destroy(),
  'an empty object': (reply) => void reply.end('{}'),
  'half an answer': (reply) => void reply.writeHead(200, { 'content-length': '100' }).write('{"keys":'),
};

async function provider(t: TestContext) {
  let fault: Fault | undefined;
  let calls = 0;
  const listener: RequestListener = (request, reply) => {
    calls += 1;
    if (fault !== undefined) fault(reply);
    else if (request.method === 'GET') reply.end(jwksOf(key));
    else reply.end(JSON.stringify({ ...granted, access_token: `token-${calls}` }));
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { id: 'agent-a', secret: 'secret' };
  const realm: Realm = {
    name: 'fault',
    issuer,
    tokenUrl: `${issuer}/token`,
    jwksUrl: `${issuer}/certs`,
    caller: client,
    agent: client,
    stranger: client,
  };
  return { realm, show: (next: Fault | undefined) => void (fault = next), calls: () => calls };
}

const granted = {
  token_type: 'Bearer',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  expires_in: 300,
};

const lasting = (issuer: string) => signed(key, { claims: { iss: issuer, iat: undefined, exp: nowSeconds + 1e9 } });

for (const [what, fault] of Object.entries(faults)) {
  test(`${what} instead of keys: 503 until there are some, and those stay`, async (t) => {
    const { realm, show } = await provider(t);
    show(fault);
    const { ask, keeper } = inbound(t, realm, { timeoutMs: 400, refreshMs: 200, coolDownMs: 0 });
    const token = await lasting(realm.issuer);
    assert.equal(await ask(token), '503 keys_unavailable keys-unavailable');
    assert.notEqual(keeper.outage(), undefined);
    show(undefined);
    for (let i = 0; i < 100 && keeper.outage() !== undefined; i += 1) await sleep(50);
    assert.equal(await ask(token), 'token');
    show(fault);
    for (let i = 0; i < 100 && keeper.degraded() === undefined; i += 1) await sleep(50);
    assert.equal(await ask(token), 'token');
    assert.notEqual(keeper.degraded(), undefined);
  });

  test(`${what} instead of a token: 503 in time, once for a crowd`, async (t) => {
    const { realm, show, calls } = await provider(t);
    show(fault);
    const { ask, decision } = outbound(t, realm, { route: { audience: 'tool-x' }, timeoutMs: 400, deadlineMs: 1_000 });
    const token = await lasting(realm.issuer);
    const begun = performance.now();
    const crowd = await Promise.all(Array.from({ length: 200 }, () => ask(token)));
    assert.deepEqual(new Set(crowd), new Set(['503 idp_unavailable unavailable']));
    assert.ok(performance.now() - begun < 2_500);
    assert.ok(calls() <= 2, `${calls()} questions`);
    show(undefined);
    for (let i = 0; i < 100 && (await ask(token)) !== 'exchange'; i += 1) await sleep(50);
    const passed = await decision(bearer(token));
    assert.ok(passed.kind === 'pass' && passed.set?.['authorization']?.startsWith('Bearer token-') === true);
  });
}
