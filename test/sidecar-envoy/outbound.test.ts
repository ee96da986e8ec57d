/** What leaves a pod, with a real Envoy: HTTP is decided, all else passes untouched, and what is decided cannot be talked around. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../runtime/sidecar/decision.ts';
import { createAuthority } from '../support/svid.ts';
import { type Bed, pass, startBed, until } from './bed.ts';

let bed: Bed;
let tool: { readonly port: number; readonly seen: http.IncomingMessage[] };
const servers: net.Server[] = [];

before(async () => {
  bed = await startBed();
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    response.end('tool');
  });
  server.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
    seen.push(request);
    socket.end('HTTP/1.1 200 OK\r\n\r\n');
  });
  tool = { port: await listening(server), seen };
});
after(async () => {
  for (const server of servers) server.close();
  await bed.stop();
});

/** Listens outside the pod; with a port, on its link alone, so that others may have theirs. */
async function listening(server: net.Server, port = 0): Promise<number> {
  servers.push(server.listen(port, port === 0 ? '::' : bed.namespace.gateway));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const denied: Refusal = { kind: 'refuse', reason: 'exchange', status: 503, error: 'unavailable', description: 'No.' };

test('a call passes as it was made, with the headers that were decided', async () => {
  bed.rule('outbound', () => ({ ...pass, set: { authorization: 'Bearer for-the-tool' } }));
  const url = `http://${bed.namespace.gateway}:${tool.port}/a//b%2Fc?x=1`;
  const headers = { host: 'tool.test', authorization: 'Bearer of-the-user', 'x-envoy-max-retries': '3' };
  const said = await bed.agent.call({ url, headers });
  assert.deepEqual([said.status, said.body], [200, 'tool']);
  const seen = tool.seen.at(-1);
  assert.equal(seen?.url, '/a//b%2Fc?x=1');
  assert.equal(seen?.headers.host, 'tool.test');
  assert.equal(seen?.headers.authorization, 'Bearer for-the-tool');
  assert.equal(seen?.headers['x-envoy-max-retries'], undefined);
  assert.equal(seen?.headers['x-forwarded-for'], undefined, 'the address of a pod is nobody else’s business');
  assert.equal(said.headers?.['server'], undefined);
  const head = bed.heads.at(-1);
  assert.equal(head?.direction, 'outbound');
  assert.equal(head?.authority, 'tool.test');
  assert.deepEqual(head?.destination, { address: bed.namespace.gateway, port: tool.port });
});

test('a call by HTTP/2, as gRPC makes it, is decided and stays HTTP/2', async () => {
  bed.rule('outbound', () => ({ ...pass, set: { authorization: 'Bearer for-the-tool' } }));
  const server = http2.createServer((request, response) => {
    response.end(`${request.httpVersion} ${request.headers.authorization}`);
  });
  const url = `http://${bed.namespace.gateway}:${await listening(server)}/a2a.A2AService/GetTask`;
  const said = await bed.agent.call({ url, isHttp2: true });
  assert.deepEqual([said.status, said.body], [200, '2.0 Bearer for-the-tool']);
  assert.equal(bed.heads.at(-1)?.path, '/a2a.A2AService/GetTask');
});

test('a refusal never reaches the tool', async () => {
  bed.rule('outbound', () => denied);
  const count = tool.seen.length;
  const said = await bed.agent.call({ url: `http://${bed.namespace.gateway}:${tool.port}/` });
  assert.equal(said.status, 503);
  assert.deepEqual(JSON.parse(said.body ?? ''), { error: 'unavailable', error_description: 'No.' });
  assert.equal(tool.seen.length, count);
});

test('a request goes where the decision says, whatever it was dialled; a header that asks for it does nothing', async () => {
  bed.rule('outbound', ({ values }) => ({
    ...pass,
    ...(values('x-elsewhere').length > 0 && { destination: { address: bed.namespace.gateway, port: tool.port } }),
  }));
  const other = http.createServer((_request, response) => response.end('other'));
  const dialled = `http://[${bed.namespace.gateway6}]:${await listening(other)}/`;
  const tellsEnvoy = { 'x-envoy-original-dst-host': `${bed.namespace.gateway}:${tool.port}` };
  assert.equal((await bed.agent.call({ url: dialled, headers: tellsEnvoy })).body, 'other');
  assert.equal((await bed.agent.call({ url: dialled, headers: { 'x-elsewhere': '1' } })).body, 'tool');
  assert.equal((await bed.agent.call({ url: dialled })).body, 'other');
});

test('TLS passes untouched and is counted', async () => {
  const authority = await createAuthority('tools');
  const { key, chain } = await authority.issue('spiffe://example.org/tool');
  const server = tls.createServer({ key, cert: chain }, (socket) => socket.end('over TLS'));
  const port = await listening(server);
  const count = bed.heads.length;
  const said = await bed.agent.connect({ host: bed.namespace.gateway, port, isTls: true });
  assert.equal(said.body, 'over TLS');
  assert.equal(said.peer, fingerprint(chain), 'the certificate is the tool’s own');
  assert.equal(bed.heads.length, count);
  const stats = await bed.admin.stats('^tcp\\.outbound_tls\\.downstream_cx_total$');
  assert.equal(stats.get('tcp.outbound_tls.downstream_cx_total'), 1);
  await until(() => bed.access.some((line) => line['log'] === 'connection' && line['serverName'] === 'tool.test'));
});

test('a protocol in which the server speaks first passes: at once on its own port, and in time on any other', async () => {
  const greet = () => net.createServer((socket) => socket.end('220 ready\r\n'));
  const host = bed.namespace.gateway;
  const usual = await bed.agent.connect({ host, port: await listening(greet(), 3306) });
  assert.equal(usual.body, '220 ready\r\n');
  assert.ok((usual.ms ?? Infinity) < 2_000, `${usual.ms} ms`);
  const odd = await bed.agent.connect({ host, port: await listening(greet()) });
  assert.equal(odd.body, '220 ready\r\n');
  assert.ok((odd.ms ?? 0) > 4_000, `${odd.ms} ms`);
});

test('what is neither HTTP nor TLS passes by its first bytes', async () => {
  const port = await listening(net.createServer((socket) => socket.pipe(socket)));
  const said = await bed.agent.connect({ host: bed.namespace.gateway, port, send: '*1\r\n$4\r\nPING\r\n' });
  assert.equal(said.body, '*1\r\n$4\r\nPING\r\n');
  assert.ok((said.ms ?? Infinity) < 2_000, `${said.ms} ms`);
});

test('where plain TCP is refused it passes on named ports alone; HTTP is decided and TLS passes on all', async () => {
  const echo = () => net.createServer((socket) => socket.pipe(socket));
  const [named, other] = [await listening(echo()), await listening(echo())];
  const { key, chain } = await (await createAuthority('tools')).issue('spiffe://example.org/tool');
  const secure = await listening(tls.createServer({ key, cert: chain }, (socket) => socket.end('secret')));
  const limited = await startBed({ intent: { plainTcpPorts: [named, tool.port] } });
  try {
    const gateway = limited.namespace.gateway;
    const words = 'SPEAK agent\r\n\r\n';
    assert.equal((await limited.agent.connect({ host: gateway, port: named, send: words })).body, words);
    const refused = await limited.agent.connect({ host: gateway, port: other, send: words });
    assert.deepEqual([refused.body ?? '', refused.body === words], ['', false]);
    const leading = await limited.agent.connect({ host: gateway, port: other, send: '\r\nGET / HTTP/1.1\r\n\r\n' });
    assert.equal(leading.body ?? '', '');
    const tunnelled = await limited.agent.connect({ host: gateway, port: secure, isTls: true });
    assert.equal(tunnelled.body, 'secret');
    const decided = await limited.agent.call({ url: `http://${gateway}:${tool.port}/` });
    assert.equal(decided.status, 200);
    assert.equal(limited.heads.at(-1)?.direction, 'outbound');
    const name = 'tcp.outbound_refused.downstream_cx_total';
    assert.equal((await limited.admin.stats(`^${name}$`)).get(name), 2);
  } finally {
    await limited.stop();
  }
});

test('CONNECT to a proxy of the application’s choice is decided and passes', async () => {
  bed.rule('outbound', () => pass);
  const url = `http://${bed.namespace.gateway}:${tool.port}`;
  const said = await bed.agent.call({ url, method: 'CONNECT', headers: { host: 'api.test:443' } });
  assert.equal(said.status, 200);
  assert.equal(tool.seen.at(-1)?.method, 'CONNECT');
  assert.equal(bed.heads.at(-1)?.method, 'CONNECT');
});

test('a destination that refuses the connection is a 503 that says so', async () => {
  bed.rule('outbound', () => pass);
  const said = await bed.agent.call({ url: `http://${bed.namespace.gateway}:9/` });
  assert.equal(said.status, 503);
  assert.equal(said.headers?.['content-type'], 'application/json');
  assert.match(said.body ?? '', /"error":"destination_unavailable".*Connection_refused/);
});

test('statistics do not grow with what is called', async () => {
  bed.rule('outbound', () => pass);
  const size = async () => (await bed.admin.get('/stats/prometheus')).body.split('\n').length;
  const call = (n: number) =>
    bed.agent.call({ url: `http://${bed.namespace.gateway}:${tool.port}/${n}`, headers: { host: `h${n}.test` } });
  await call(0);
  const before = await size();
  for (let n = 1; n <= 20; n += 1) await call(n);
  assert.equal(await size(), before);
});

function fingerprint(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}
