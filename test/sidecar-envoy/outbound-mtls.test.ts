/** Mutual TLS of a pod's own calls, between two pods with a real Envoy each: what passes on the wire, whom it is told to, and who fails. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Decision } from '../../runtime/sidecar/decision.ts';
import type { TlsIdentity } from '../../runtime/sidecar/envoy/secrets.ts';
import { snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { type Authority, createAuthority, type Dates } from '../support/svid.ts';
import { type Bed, pass, startBed, until } from './bed.ts';
import { request } from './client.ts';

const callerId = 'spiffe://example.org/ns/team1/sa/caller';
const calleeId = 'spiffe://example.org/ns/team2/sa/callee';
const overMtls: Decision = { kind: 'pass', reason: 'test', isMtls: true };

let home: Authority;
let partner: Authority;
let stranger: Authority;
let caller: Bed;
let callee: Bed;
let wire: Wire;
let wireToHttp2: Wire;

before(async () => {
  [home, partner, stranger] = (await Promise.all(['home', 'partner', 'stranger'].map(createAuthority))) as [
    Authority,
    Authority,
    Authority,
  ];
  [caller, callee] = await Promise.all([
    startBed({ intent: { mtls: 'permissive' }, identity: await identity(home, callerId) }),
    startBed({ intent: { mtls: 'permissive' }, identity: await identity(home, calleeId) }),
  ]);
  wire = await openWire(caller, callee.namespace.ip, callee.agent.port);
  wireToHttp2 = await openWire(caller, callee.namespace.ip, callee.agent.port + 1);
});
after(async () => {
  for (const server of servers) server.close();
  await Promise.all([caller.stop(), callee.stop()]);
});

/** Trusts its own domain and a partner's. */
async function identity(authority: Authority, id: string, dates?: Dates): Promise<TlsIdentity> {
  const { chain, key } = await authority.issue(id, dates);
  const bundles = [
    ['example.org', home.pem],
    ['partner.test', partner.pem],
  ] as const;
  return { chain, key, bundles: new Map(bundles) };
}

/** What lies between the pods: a relay at an address that the caller can dial. */
interface Wire {
  readonly url: string;
  /** What the caller sent on each connection, in their order. */
  readonly sent: readonly Buffer[];
}

async function openWire({ namespace }: Bed, host: string, port: number): Promise<Wire> {
  const sent: Buffer[] = [];
  const server = net.createServer((near) => {
    const far = net.connect({ host, port });
    const at = sent.push(Buffer.alloc(0)) - 1;
    near.on('data', (chunk: Buffer) => (sent[at] = Buffer.concat([sent[at] ?? chunk, chunk])));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  return { url: await listening(server, namespace.gateway), sent };
}

const servers: net.Server[] = [];

async function listening(server: net.Server, host = caller.namespace.gateway): Promise<string> {
  servers.push(server.listen(0, host));
  await once(server, 'listening');
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** Requests that reached one of the servers below. */
let seen = 0;
const ended: Dates = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() - 1_000) };

async function serving(authority: Authority, id: string, dates?: Dates): Promise<string> {
  const { chain, key } = await authority.issue(id, dates);
  return listening(https.createServer({ key, cert: chain }, count));
}

function count(_request: http.IncomingMessage, response: http.ServerResponse): void {
  seen += 1;
  response.end('seen');
}

/** Has the caller's Envoy take another identity, or none; or the callee's. */
async function become(bed: Bed, next: TlsIdentity | undefined): Promise<void> {
  bed.discovery.publish(snapshot(bed.intent, next));
  await until(() => bed.discovery.isSettled);
}

const secret = 'a-secret-of-the-user';

test('a call leaves by TLS with nothing of it to read, and each side is told who the other is', async () => {
  caller.rule('outbound', () => overMtls);
  const said = await caller.agent.call({ url: `${wire.url}/a?x=1`, headers: { authorization: `Bearer ${secret}` } });
  assert.equal(said.status, 200);
  assert.match(said.body ?? '', new RegExp(`"path":"/a\\?x=1".*${secret}`));
  const sent = wire.sent.at(-1) ?? Buffer.alloc(0);
  assert.deepEqual([...sent.subarray(0, 2)], [0x16, 0x03], 'a TLS handshake');
  assert.doesNotMatch(sent.toString('latin1'), new RegExp(`${secret}|GET /a`));
  assert.deepEqual([callee.heads.at(-1)?.isTls, callee.heads.at(-1)?.peer], [true, callerId]);
  await until(() => caller.access.some((line) => line['upstreamPeer'] === calleeId));
  await until(() => callee.access.some((line) => line['peer'] === callerId));
});

test('what is not decided so leaves in plain HTTP, and no header of the application chooses', async () => {
  const headers = {
    'x-rossoctl-mtls': 'true',
    'x-envoy-upstream-alt-stat-name': 'outbound_mtls',
    'x-forwarded-proto': 'https',
    mtls: 'true',
  };
  caller.rule('outbound', () => pass);
  assert.equal((await caller.agent.call({ url: `${wire.url}/`, headers })).status, 200);
  assert.equal(callee.heads.at(-1)?.isTls, false);
  caller.rule('outbound', () => overMtls);
  const against = { 'x-rossoctl-mtls': 'false', 'x-forwarded-proto': 'http', mtls: 'false' };
  assert.equal((await caller.agent.call({ url: `${wire.url}/`, headers: against })).status, 200);
  assert.equal(callee.heads.at(-1)?.isTls, true);
});

test('a certificate that somebody only writes about in a header reaches nobody', async () => {
  const headers = { 'x-forwarded-client-cert': `By=spiffe://example.org/x;URI=${calleeId}` };
  for (const decision of [overMtls, pass]) {
    caller.rule('outbound', () => decision);
    const { body = '' } = await caller.agent.call({ url: `${wire.url}/`, headers });
    assert.doesNotMatch(body, /x-forwarded-client-cert/);
  }
  const direct = await request(`http://${callee.namespace.ip}:${callee.agent.port}/`, { headers });
  assert.deepEqual(direct.json().values('x-forwarded-client-cert'), []);
});

test('a call that is sent elsewhere than it was dialled goes there by mutual TLS', async () => {
  const { hostname: address, port } = new URL(wire.url);
  caller.rule('outbound', () => ({ ...overMtls, destination: { address, port: Number(port) } }));
  const said = await caller.agent.call({ url: `http://${caller.namespace.gateway}:9/` });
  assert.equal(said.status, 200);
  assert.equal(callee.heads.at(-1)?.isTls, true);
});

test('gRPC, server-sent events and WebSockets pass', async () => {
  caller.rule('outbound', () => overMtls);
  const headers = { authorization: 'Bearer for-grpc' };
  const grpc = await caller.agent.call({ url: `${wireToHttp2.url}/a2a.A2AService/GetTask`, isHttp2: true, headers });
  assert.deepEqual([grpc.status, JSON.parse(grpc.body ?? '')], [200, headers]);
  assert.deepEqual([callee.heads.at(-1)?.isTls, callee.heads.at(-1)?.path], [true, '/a2a.A2AService/GetTask']);
  const stream = caller.agent.call({ url: `${wire.url}/sse?held=over-mtls` });
  await callee.agent.untilHeld('over-mtls');
  await callee.agent.push('over-mtls', 'data: 1\n\n');
  await callee.agent.push('over-mtls', 'data: 2\n\n', true);
  assert.equal((await stream).body, 'data: 1\n\ndata: 2\n\n');
  const { hostname: host, port } = new URL(wire.url);
  const upgrade = 'GET /ws HTTP/1.1\r\nhost: callee\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  const socket = await caller.agent.connect({ host, port: Number(port), send: upgrade });
  assert.match(socket.body ?? '', /^HTTP\/1\.1 101 /);
});

const failures: readonly (readonly [what: string, url: () => Promise<string>, words: RegExp])[] = [
  ['speaks no TLS', () => listening(http.createServer(count)), /WRONG_VERSION_NUMBER/],
  ['has a certificate of nobody who is trusted', () => serving(stranger, calleeId), /CERTIFICATE_VERIFY_FAILED/],
  ['has a certificate that has ended', () => serving(home, calleeId, ended), /CERTIFICATE_VERIFY_FAILED.*expired/],
  [
    "has another domain's certificate by a trusted authority",
    () => serving(partner, calleeId),
    /CERTIFICATE_VERIFY_FAILED/,
  ],
  ['is not there', async () => `http://${caller.namespace.gateway}:9`, /Connection_refused/],
];
for (const [what, url, words] of failures) {
  test(`a destination that ${what} is a 503 that says so, and nothing is sent in plain HTTP`, async () => {
    caller.rule('outbound', () => overMtls);
    const before = seen;
    const said = await caller.agent.call({ url: `${await url()}/`, headers: { authorization: `Bearer ${secret}` } });
    assert.equal(said.status, 503);
    const { error, error_description: why = '' } = JSON.parse(said.body ?? '') as Readonly<Record<string, string>>;
    assert.equal(error, 'mtls_failed');
    assert.match(why, words);
    assert.equal(seen, before, 'it has not been seen there');
  });
}

const outcomes: readonly (readonly [
  what: string,
  next: () => Promise<TlsIdentity | undefined>,
  words: RegExp | undefined,
])[] = [
  ['of a federated domain', () => identity(partner, 'spiffe://partner.test/caller'), undefined],
  ['of an authority that nobody trusts', () => identity(stranger, callerId), /does not take this pod's certificate/],
  ['that has ended', () => identity(home, callerId, ended), /does not take this pod's certificate/],
  ['that is not there', async () => undefined, /this pod has no identity in use/],
];
for (const [what, next, words] of outcomes) {
  test(`a call with an identity ${what}: ${words === undefined ? 'passes' : 'a 503 that says so'}`, async () => {
    caller.rule('outbound', () => overMtls);
    await become(caller, await next());
    const count = callee.heads.length;
    const said = await caller.agent.call({ url: `${wire.url}/` });
    await become(caller, await identity(home, callerId));
    assert.equal(said.status, words === undefined ? 200 : 503, said.body ?? said.error ?? '');
    assert.equal(callee.heads.length, words === undefined ? count + 1 : count);
    if (words === undefined) return;
    assert.match(said.body ?? '', /"error":"mtls_failed"/);
    assert.match(said.body ?? '', words);
  });
}

test('an identity that changes under an open stream: the stream goes on, and the next call has the new one', async () => {
  caller.rule('outbound', () => overMtls);
  const open = async (held: string) => {
    const answer = caller.agent.call({ url: `${wire.url}/sse?held=${held}` });
    await callee.agent.untilHeld(held);
    await callee.agent.push(held, 'data: before\n\n');
    return { answer, end: () => callee.agent.push(held, 'data: after\n\n', true) };
  };
  const first = await open('rotation-of-caller');
  void caller.agent.call({ url: `${wireToHttp2.url}/held=to-the-end`, isHttp2: true });
  await until(() => callee.heads.at(-1)?.path === '/held=to-the-end');
  const nextId = `${callerId}-next`;
  await become(caller, await identity(home, nextId));
  await caller.agent.call({ url: `${wire.url}/` });
  assert.equal(callee.heads.at(-1)?.peer, nextId);
  await caller.agent.call({ url: `${wireToHttp2.url}/next`, isHttp2: true });
  assert.equal(callee.heads.at(-1)?.peer, nextId, 'though a connection of the old one is open');
  const second = await open('rotation-of-callee');
  await become(callee, await identity(home, calleeId));
  const third = await open('identity-ended');
  await become(caller, undefined);
  for (const { answer, end } of [first, second, third]) {
    await end();
    const { status, body } = await answer;
    assert.deepEqual([status, body], [200, 'data: before\n\ndata: after\n\n']);
  }
  await become(caller, await identity(home, callerId));
});

test('a domain that is trusted no more: not by a connection that is open either', async () => {
  caller.rule('outbound', () => overMtls);
  const own = await identity(home, callerId);
  await become(callee, await identity(partner, 'spiffe://partner.test/callee'));
  await until(
    async () =>
      (await caller.agent.call({ url: `${wire.url}/` })).status === 200 && callee.heads.at(-1)?.isTls === true,
  );
  await become(caller, { ...own, bundles: new Map([['example.org', home.pem]]) });
  const said = await caller.agent.call({ url: `${wire.url}/` });
  await Promise.all([become(caller, own), become(callee, await identity(home, calleeId))]);
  assert.equal(said.status, 503);
  assert.match(said.body ?? '', /CERTIFICATE_VERIFY_FAILED/);
});

test('keys are in no page of the administrator', async () => {
  const { body } = await caller.admin.get('/config_dump');
  assert.match(body, /outbound_mtls/);
  assert.doesNotMatch(body, /PRIVATE KEY/);
});
