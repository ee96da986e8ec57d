/** The explicit proxy of a pod whose traffic nobody redirects, with a real Envoy: requests by proxy form and by plain form, and callers. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../runtime/sidecar/decision.ts';
import { createAuthority } from '../support/svid.ts';
import { pass, startBed } from './bed.ts';
import { request } from './client.ts';
import { bearer, type ExplicitBed, lines, ports, startExplicitBed } from './explicit-bed.ts';

let bed: ExplicitBed;
before(async () => {
  bed = await startExplicitBed();
});
after(() => bed.stop());

const errorOf = (answer: string): unknown =>
  (JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { error: string }).error;

test('a URL in the request line goes to its host, with a token for that host where a route says so', async () => {
  const plain = await bed.sent(lines(`GET http://plain.test:${bed.toolPort}/a//b?c=1 HTTP/1.1`, 'host: plain.test'));
  assert.match(plain, new RegExp(`^HTTP/1.1 200 OK[^]*/a//b\\?c=1 plain.test:${bed.toolPort} -$`));
  const exchanged = await bed.sent(lines(`GET http://tool.test:${bed.toolPort}/ HTTP/1.1`, 'host: tool.test', bearer));
  assert.match(exchanged, /200 OK[^]* Bearer for-tool$/);
});

test('a path in the request line goes to the host of the header', async () => {
  const answer = await bed.sent(lines('GET /x HTTP/1.1', `host: tool.test:${bed.toolPort}`, bearer));
  assert.match(answer, /200 OK[^]*\/x tool.test:\d+ Bearer for-tool$/);
});

test('without a token, or to a host that no route names, the rules refuse as everywhere', async () => {
  const count = bed.seen.length;
  const none = await bed.sent(lines(`GET http://tool.test:${bed.toolPort}/ HTTP/1.1`, 'host: tool.test'));
  assert.match(none, /^HTTP\/1.1 401/);
  assert.equal(errorOf(none), 'missing_token');
  const unnamed = await bed.sent(lines(`GET http://plain.test:${bed.toolPort}/ HTTP/1.1`, 'host: plain.test', bearer));
  assert.equal(errorOf(unnamed), 'no_route');
  const closed = await bed.sent(lines(`GET http://closed.test:${bed.toolPort}/ HTTP/1.1`, 'host: closed.test'));
  assert.equal(errorOf(closed), 'route_denied');
  assert.equal(bed.seen.length, count);
});

test('a Host beside a URL counts for nothing: neither token nor request go by it', async () => {
  const answer = await bed.sent(lines(`GET http://plain.test:${bed.toolPort}/ HTTP/1.1`, 'host: tool.test', bearer));
  assert.equal(errorOf(answer), 'no_route');
  const other = await bed.sent(lines(`GET http://plain.test:${bed.toolPort}/ HTTP/1.1`, 'host: nowhere.test'));
  assert.match(other, new RegExp(` plain.test:${bed.toolPort} -$`));
});

test('what is for the proxy goes no further, and what Envoy would obey is obeyed by nobody', async () => {
  const hop = ['proxy-authorization: Basic c2VjcmV0', 'proxy-connection: keep-alive'];
  const steering = `x-envoy-original-dst-host: ${bed.namespace.gateway}:9`;
  const url = `http://tool.test:${bed.toolPort}/`;
  assert.match(await bed.sent(lines(`GET ${url} HTTP/1.1`, 'host: tool.test', bearer, ...hop, steering)), /200 OK/);
  const names = Object.keys(bed.seen.at(-1)?.headers ?? {});
  assert.deepEqual(
    names.filter((name) => /^(proxy|x-envoy)-/.test(name)),
    [],
  );
});

test('a host that cannot be looked up, a URL of https and a wrong authority are refused, each in its words', async () => {
  assert.equal(errorOf(await bed.sent(lines('GET http://nowhere.test/ HTTP/1.1', 'host: a'))), 'host_unknown');
  const secure = await bed.sent(lines('GET https://plain.test/ HTTP/1.1', 'host: plain.test'));
  assert.match(secure, /^HTTP\/1.1 400[^]*CONNECT HOST:PORT/);
  assert.match(await bed.sent(lines('GET / HTTP/1.1', 'host: user@plain.test')), /^HTTP\/1.1 400/);
});

test('the proxy is never sent to itself, whatever it is called', async () => {
  for (const host of ['127.0.0.1', 'localhost.', 'here.test', 'me.test', '[::1]', '0.0.0.0', bed.namespace.ip]) {
    for (const line of [`GET http://${host}:${ports.outbound}/`, `CONNECT ${host}:${ports.outbound}`]) {
      const answer = await bed.sent(lines(`${line} HTTP/1.1`, `host: ${host}:${ports.outbound}`));
      assert.match(answer, /^HTTP\/1.1 (?:403|503)[^]*(?:route_denied|host_unknown)/, `${line}: ${answer}`);
    }
  }
});

test('from outside, nothing listens where the proxy is', async () => {
  for (const host of [bed.namespace.ip, `[${bed.namespace.ip6}]`]) {
    await assert.rejects(request(`http://${host}:${ports.outbound}/`), /ECONNREFUSED/);
  }
});

test('callers get to the application by the inbound port: decided, and whatever port they name', async () => {
  const denied: Refusal = {
    kind: 'refuse',
    reason: 'no_token',
    status: 401,
    error: 'missing_token',
    description: '',
  };
  bed.rule('inbound', () => denied);
  const url = `http://${bed.namespace.ip}:${ports.inbound}/x`;
  assert.equal((await request(url)).status, 401);
  bed.rule('inbound', () => pass);
  const answer = await request(`http://[${bed.namespace.ip6}]:${ports.inbound}/a//b/../c`, {
    headers: { host: '127.0.0.1:9901' },
  });
  assert.deepEqual([answer.status, answer.json().path], [200, '/a/c']);
  assert.equal(bed.heads.at(-1)?.direction, 'inbound');
});

test('mutual TLS ends at the inbound port, and begins behind the proxy, as where traffic is captured', async () => {
  const home = await createAuthority('home');
  const [own, other] = await Promise.all(['agent', 'other'].map((name) => home.issue(`spiffe://example.org/${name}`)));
  assert.ok(own !== undefined && other !== undefined);
  const identity = { ...own, bundles: new Map([['example.org', home.pem]]) };
  const explicit = { application: 8080, isOutbound: true };
  const strict = await startBed({ intent: { explicit, mtls: 'strict' }, identity });
  const isWelcome = { ca: home.pem, requestCert: true, rejectUnauthorized: true };
  const tool = https.createServer({ key: other.key, cert: other.chain, ...isWelcome }, (_request, response) =>
    response.end('over TLS'),
  );
  try {
    const { ip, gateway } = strict.namespace;
    const caller = { key: other.key, cert: other.chain, ca: home.pem, checkServerIdentity: () => undefined };
    const [answer] = await once(https.get({ host: ip, port: ports.inbound, ...caller, agent: false }), 'response');
    answer.resume();
    assert.equal(answer.statusCode, 200);
    assert.deepEqual([strict.heads.at(-1)?.isTls, strict.heads.at(-1)?.peer], [true, 'spiffe://example.org/other']);
    await once(tool.listen(0, gateway), 'listening');
    const { port } = tool.address() as AddressInfo;
    strict.rule('outbound', () => ({ ...pass, isMtls: true, destination: { address: gateway, port } }));
    const send = [lines(`GET http://tool.test:${port}/ HTTP/1.1`, 'host: tool.test')];
    const told = await strict.agent.converse({ host: '127.0.0.1', port: ports.outbound, send });
    assert.match(told, /200 OK[^]*over TLS$/);
  } finally {
    tool.close();
    await strict.stop();
  }
});

test('where loopback is not the pod’s alone there is no proxy on it, and without a port there is nobody to call', async () => {
  const bed = await startBed({ intent: { explicit: { application: undefined, isOutbound: false } } });
  try {
    const { error } = await bed.agent.connect({ host: '127.0.0.1', port: ports.outbound });
    assert.equal(error, 'ECONNREFUSED');
    const { status, body } = await request(`http://${bed.namespace.ip}:${ports.inbound}/`);
    assert.equal(status, 503);
    assert.match(body, /destination_unavailable/);
  } finally {
    await bed.stop();
  }
});
