/** Mutual TLS of what arrives, with a real Envoy: who is let in, what the rule is told, and that certificates change under open connections. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import tls from 'node:tls';
import { after, before, test } from 'node:test';
import type { TlsIdentity } from '../../runtime/sidecar/envoy/secrets.ts';
import { snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { type Authority, createAuthority, type Svid } from '../support/svid.ts';
import { type Bed, startBed, until } from './bed.ts';
import { request } from './client.ts';

const own = 'spiffe://example.org/ns/team1/sa/agent';
const peer = 'spiffe://example.org/ns/team2/sa/caller';

let home: Authority;
let partner: Authority;
let stranger: Authority;
let bed: Bed;
before(async () => {
  [home, partner, stranger] = (await Promise.all(['home', 'partner', 'stranger'].map(createAuthority))) as [
    Authority,
    Authority,
    Authority,
  ];
  bed = await startBed({ intent: { mtls: 'permissive' }, identity: await identity() });
});
after(() => bed.stop());

async function identity(): Promise<TlsIdentity> {
  const { chain, key } = await home.issue(own);
  const bundles = [
    ['example.org', home.pem],
    ['partner.test', partner.pem],
  ] as const;
  return { chain, key, bundles: new Map(bundles) };
}

/** A request over mutual TLS; the answer's status, and the ID of the certificate that was shown. */
function call(
  svid: Svid | undefined,
  options: tls.ConnectionOptions = {},
): Promise<{ readonly status: number; readonly server: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly server: string }>();
  const client = svid === undefined ? {} : { key: svid.key, cert: svid.chain };
  const target = { host: bed.namespace.ip, port: bed.agent.port, path: '/', agent: false };
  const sent = https.get(
    { ...target, ...client, ca: home.pem, checkServerIdentity: () => undefined, ...options },
    (response) => {
      const socket = response.socket as tls.TLSSocket;
      const server = socket.getPeerX509Certificate()?.subjectAltName ?? '';
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, server }));
    },
  );
  sent.on('error', reject);
  return promise;
}

test('a peer with an identity is let in, and the rule is told who it is', async () => {
  assert.deepEqual(await call(await home.issue(peer)), { status: 200, server: `URI:${own}` });
  const head = bed.heads.at(-1);
  assert.equal(head?.isTls, true);
  assert.equal(head?.peer, peer);
});

test('a peer of a federated domain is let in', async () => {
  assert.equal((await call(await partner.issue('spiffe://partner.test/caller'))).status, 200);
  assert.equal(bed.heads.at(-1)?.peer, 'spiffe://partner.test/caller');
});

const refused: readonly (readonly [string, () => Promise<Svid | undefined>])[] = [
  ['without a certificate', async () => undefined],
  ['of an authority that nobody trusts', () => stranger.issue(peer)],
  ["of a trusted authority that speaks for another's domain", () => partner.issue(peer)],
  ['of a domain without a bundle', () => home.issue('spiffe://elsewhere.test/caller')],
  [
    'whose certificate has ended',
    () => home.issue(peer, { notAfter: new Date(Date.now() - 1_000), notBefore: new Date(Date.now() - 60_000) }),
  ],
];
for (const [who, svid] of refused) {
  test(`a peer ${who} is refused before any request`, async () => {
    const count = bed.heads.length;
    const given = await svid();
    await assert.rejects(call(given), /alert|ECONNRESET|socket hang up|EPIPE/);
    assert.equal(bed.heads.length, count);
  });
}

test('plain HTTP is let in as such: what it may ask for is for the rule', async () => {
  const answer = await request(`http://${bed.namespace.ip}:${bed.agent.port}/`);
  assert.equal(answer.status, 200);
  assert.equal(bed.heads.at(-1)?.isTls, false);
  assert.equal(bed.heads.at(-1)?.peer, undefined);
});

test('who speaks only HTTP/2 gets it, and who speaks both gets HTTP/1.1', async () => {
  const caller = await home.issue(peer);
  const offered = async (ALPNProtocols: string[]) => {
    const socket = await connected(caller, { ALPNProtocols });
    socket.destroy();
    return socket.alpnProtocol;
  };
  assert.equal(await offered(['h2']), 'h2');
  assert.equal(await offered(['h2', 'http/1.1']), 'http/1.1');
});

test('a new certificate and a new bundle are used from the next handshake on, and open connections live', async () => {
  const caller = await home.issue(peer);
  const socket = await connected(caller);
  const again = async (): Promise<string> => {
    socket.write('GET / HTTP/1.1\r\nhost: agent\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString().slice(0, 15);
  };
  assert.equal(await again(), 'HTTP/1.1 200 OK');
  const next = await identity();
  const bundles = new Map([['example.org', `${home.pem}${stranger.pem}`]]);
  bed.discovery.publish(snapshot(bed.intent, { ...next, bundles }));
  await until(() => bed.discovery.isSettled);
  const serial = new X509Certificate(next.chain).serialNumber;
  await until(async () => (await shown(caller)) === serial);
  assert.equal(await again(), 'HTTP/1.1 200 OK');
  await assert.rejects(call(await partner.issue('spiffe://partner.test/caller')));
  assert.equal((await call(await stranger.issue(peer))).status, 200);
  socket.destroy();
  bed.discovery.publish(snapshot(bed.intent, await identity()));
});

async function connected({ key, chain }: Svid, options: tls.ConnectionOptions = {}): Promise<tls.TLSSocket> {
  const target = { host: bed.namespace.ip, port: bed.agent.port, rejectUnauthorized: false };
  const socket = tls.connect({ ...target, key, cert: chain, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

async function shown(svid: Svid): Promise<string | undefined> {
  const socket = await connected(svid);
  const { serialNumber } = socket.getPeerX509Certificate() ?? {};
  socket.destroy();
  return serialNumber;
}

test('keys are in no page of the administrator', async () => {
  const { body } = await bed.admin.get('/config_dump');
  assert.match(body, /spiffe:\/\/example\.org|example\.org/);
  assert.doesNotMatch(body, /PRIVATE KEY/);
});

test('without an identity the pod waits, tells why, leaves what goes out alone, and then serves what needs none', async () => {
  const late = await startBed({ intent: { mtls: 'strict', limits: { identitySeconds: 3 } }, isAwaited: false });
  try {
    await until(() => late.envoy.fault !== undefined && late.discovery.isSettled);
    assert.match(String(late.envoy.fault), /initializing|pre initializing|starting/);
    await until(() => late.envoy.fault === undefined);
    assert.equal((await request(`http://${late.namespace.ip}:${late.agent.port}/healthz`)).status, 200);
    const caller = await home.issue(peer);
    const options = { host: late.namespace.ip, port: late.agent.port, key: caller.key, cert: caller.chain };
    await assert.rejects(call(caller, options));
    late.discovery.publish(snapshot(late.intent, await identity()));
    await until(async () => (await call(caller, options).catch(() => ({ status: 0 }))).status === 200);
  } finally {
    await late.stop();
  }
});
