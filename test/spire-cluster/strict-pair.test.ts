/** Two pods with the whole sidecar each, identities from a real SPIRE and strict mutual TLS: who gets through, and what a rotation changes. */

import assert from 'node:assert/strict';
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ensureEnvoy } from '../../scripts/envoy.ts';
import { type Spire, startSpire } from '../lab/spire/spire.ts';
import { type Agent, startAgent } from '../sidecar-envoy/agent.ts';
import { capture, ports, until } from '../sidecar-envoy/bed.ts';
import { createNamespace, type Namespace } from '../sidecar-envoy/namespace.ts';
import { createIssuer } from '../support/issuer.ts';

const skip = process.getuid?.() !== 0 && 'network namespaces are made by root';
const issuer = 'http://idp.test/realms/agents';
const program = path.resolve(import.meta.dirname, '../../runtime/sidecar/main.ts');
const healthPort = 15125;

/** A pod whose sidecar runs as that user, which is what SPIRE knows it by. */
interface Pod {
  readonly namespace: Namespace;
  readonly agent: Agent;
  /** What the sidecar wrote. */
  readonly log: () => string;
  readonly metrics: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

async function startPod(spire: Spire, uid: number, namespace: Namespace, more: Record<string, string>): Promise<Pod> {
  capture(namespace, uid);
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-pair-'));
  chownSync(folder, uid, uid);
  chmodSync(folder, 0o700);
  const env = {
    POD_NAMESPACE: 'team1',
    POD_NAME: `pod-${uid}`,
    POD_IP: namespace.ip,
    INBOUND_PORT: ports.inbound,
    OUTBOUND_PORT: ports.outbound,
    ADMIN_PORT: 9901,
    HEALTH_PORT: healthPort,
    WORK_DIR: folder,
    ENVOY_BINARY: await ensureEnvoy(),
    ISSUER: issuer,
    MTLS_MODE: 'strict',
    SPIFFE_ENDPOINT_SOCKET: `unix://${spire.socketPath}`,
    SPIFFE_TRUST_DOMAIN: spire.trustDomain,
    ALLOWED_AUDIENCES: '["callee"]',
    BYPASS_PATHS: '[]',
    ROUTES: '[]',
    PLAIN_TCP: 'allow',
    DRAIN_SECONDS: 1,
    ...more,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const child: ChildProcess = namespace.start(
    uid,
    'env',
    [...variables, process.execPath, program, 'envoy-proxy'],
    ['ignore', 'pipe', 'pipe'],
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  const agent = await startAgent(namespace);
  // Loopback is not captured.
  const own = (page: string) => agent.call({ url: `http://127.0.0.1:${healthPort}${page}` });
  const stop = async () => {
    await agent.end();
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await namespace.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(
      async () => (await own('/readyz')).status === 200,
      () => log,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { namespace, agent, log: () => log, metrics: async () => (await own('/metrics')).body ?? '', stop };
}

describe('two strict pods', { skip, timeout: 600_000 }, () => {
  let spire: Spire;
  let caller: Pod;
  let callee: Pod;
  let token: string;
  /** The callee, at an address that the caller can dial: a relay, which is the network between them. */
  let there: { readonly host: string; readonly port: number };
  let legacy: { readonly host: string; readonly port: number };
  const stops: (() => unknown)[] = [];
  after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  async function listening(server: net.Server, host: string) {
    server.listen(0, host);
    await once(server, 'listening');
    stops.push(() => server.close());
    return { host, port: (server.address() as AddressInfo).port };
  }

  before(async () => {
    spire = await startSpire({ name: 'strict-pair', svidTtl: '12s' });
    stops.push(() => spire.stop());
    const id = (name: string) => `spiffe://${spire.trustDomain}/ns/team1/sa/${name}`;
    await Promise.all([
      spire.createEntry(id('caller'), ['unix:uid:1337']),
      spire.createEntry(id('callee'), ['unix:uid:1338']),
    ]);
    const { jwks, tokenFor } = await createIssuer(issuer);
    token = await tokenFor('callee');
    const [near, far] = await Promise.all([createNamespace(), createNamespace()]);
    const keyServer = http.createServer((_request, response) => response.end(JSON.stringify(jwks)));
    const { port } = await listening(keyServer, far.gateway);
    callee = await startPod(spire, 1338, far, { JWKS_URL: `http://${far.gateway}:${port}/` });
    stops.push(() => callee.stop());
    there = await listening(
      net.createServer((socket) => {
        const onward = net.connect({ host: far.ip, port: callee.agent.port });
        socket.pipe(onward).pipe(socket);
        for (const [one, other] of [
          [socket, onward],
          [onward, socket],
        ] as const) {
          one.on('error', () => other.destroy());
          one.on('close', () => other.destroy());
        }
      }),
      near.gateway,
    );
    legacy = await listening(
      http.createServer((_request, response) => response.end('legacy')),
      near.gateway,
    );
    const routes = [
      { host: near.gateway, action: 'passthrough', mtls: 'required' },
      { host: 'legacy', action: 'passthrough', mtls: 'none' },
    ];
    caller = await startPod(spire, 1337, near, {
      JWKS_URL: `http://${near.gateway}:9/`,
      ROUTES: JSON.stringify(routes),
    });
    stops.push(() => caller.stop());
  });

  const url = ({ host, port }: typeof there, page = '/') => `http://${host}:${port}${page}`;

  test('a call to a Service is by mutual TLS, and is asked for its token all the same', async () => {
    const said = await caller.agent.call({ url: url(there, '/x'), headers: { host: 'callee' } });
    assert.equal(said.status, 401, said.body ?? said.error ?? '');
    assert.match(said.body ?? '', /"error":"missing_token"/);
    assert.match(
      await callee.metrics(),
      /decisions_total\{direction="inbound",decision="refuse",reason="no-token",mtls="true"\} 1/,
    );
    assert.match(
      await caller.metrics(),
      /decisions_total\{direction="outbound",decision="pass",reason="no-route",mtls="true"\} 1/,
    );
    await until(() => /"peer":"spiffe:\/\/[^"]*\/sa\/caller"/.test(callee.log()));
    await until(() => /"upstreamPeer":"spiffe:\/\/[^"]*\/sa\/callee"/.test(caller.log()));
  });

  test('with a token it is served; the same token in plain HTTP is not', async () => {
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await caller.agent.call({ url: url(there), headers })).status, 200);
    const plain = await fetch(`http://${callee.namespace.ip}:${callee.agent.port}/`, { headers });
    assert.equal(plain.status, 403);
    assert.equal(((await plain.json()) as { readonly error: string }).error, 'mtls_required');
  });

  test('a Service without a sidecar is refused, and reached by a route that says none', async () => {
    const tool = await caller.agent.call({ url: url(legacy), headers: { host: 'tool' } });
    assert.equal(tool.status, 503);
    assert.match(tool.body ?? '', /"error":"mtls_failed".*WRONG_VERSION_NUMBER/);
    assert.equal((await caller.agent.call({ url: url(legacy), headers: { host: 'legacy' } })).body, 'legacy');
  });

  test('a stream lives through rotations of both identities, and calls go on', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const stream = caller.agent.call({ url: url(there, '/sse?held=rotation'), headers });
    await callee.agent.untilHeld('rotation');
    await callee.agent.push('rotation', 'data: 1\n\n');
    const taken = async (pod: Pod) =>
      Number(/svid_updates_total\{outcome="taken"\} (\d+)/.exec(await pod.metrics())?.[1] ?? 0);
    const [one, other] = [await taken(caller), await taken(callee)];
    await until(async () => (await taken(caller)) > one && (await taken(callee)) > other);
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await caller.agent.call({ url: url(there), headers })).status),
    );
    assert.deepEqual(new Set(statuses), new Set([200]));
    await callee.agent.push('rotation', 'data: 2\n\n', true);
    assert.equal((await stream).body, 'data: 1\n\ndata: 2\n\n');
  });
});
