/** What arrives at a pod, with a real Envoy in a network namespace: each request is decided, whatever the client claims. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../runtime/sidecar/decision.ts';
import { type Bed, pass, startBed, until } from './bed.ts';
import { raw, request } from './client.ts';

let bed: Bed;
before(async () => {
  bed = await startBed();
});
after(() => bed.stop());

const denied: Refusal = {
  kind: 'refuse',
  reason: 'no_token',
  status: 401,
  error: 'invalid_token',
  description: 'No.',
  headers: { 'www-authenticate': 'Bearer realm="rossoctl"' },
};

const application = (path: string) => `http://${bed.namespace.ip}:${bed.agent.port}${path}`;

test('a request passes, changed as decided, and the rule is told of its connection', async () => {
  bed.rule('inbound', () => ({ ...pass, set: { authorization: 'Bearer new' }, remove: ['x-gone'] }));
  const answer = await request(application('/a//b/../c?q=1'), {
    headers: ['authorization', 'Bearer one', 'authorization', 'Bearer two', 'x-gone', 'x', 'x-kept', 'k', 'host', 'a'],
  });
  assert.equal(answer.status, 200);
  const seen = answer.json();
  assert.equal(seen.path, '/a/c?q=1');
  assert.deepEqual(seen.values('authorization'), ['Bearer new']);
  assert.deepEqual(seen.values('x-gone'), []);
  assert.deepEqual(seen.values('x-kept'), ['k']);
  const head = bed.heads.at(-1);
  assert.equal(head?.direction, 'inbound');
  assert.equal(head?.method, 'GET');
  assert.equal(head?.path, '/a/c?q=1');
  // Envoy joins values of a header it knows.
  assert.deepEqual(head?.values('authorization'), ['Bearer one,Bearer two']);
  assert.deepEqual(head?.destination, { address: bed.namespace.ip, port: bed.agent.port });
  assert.equal(head?.source?.address, bed.namespace.gateway);
  assert.equal(head?.isTls, false);
  assert.equal(head?.peer, undefined);
});

test('a refusal is answered here, with its headers and JSON, and never reaches the application', async () => {
  bed.rule('inbound', () => denied);
  const answer = await request(application('/secret'));
  assert.equal(answer.status, 401);
  assert.equal(answer.headers['www-authenticate'], 'Bearer realm="rossoctl"');
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(answer.body), { error: 'invalid_token', error_description: 'No.' });
});

test("a client's own headers of ours, and of Envoy's, change nothing and go nowhere", async () => {
  const claims = {
    'rossoctl-direction': 'outbound',
    'x-authbridge-direction': 'outbound',
    'x-rossoctl-direction': 'outbound',
    'x-rossoctl-subject': 'admin',
    'x-envoy-original-dst-host': '203.0.113.1:80',
    'x-envoy-upstream-rq-timeout-ms': '1',
    'x-envoy-retry-on': '5xx',
    'x-envoy-internal': 'true',
    'x-forwarded-client-cert': 'URI=spiffe://example.org/ns/a/sa/b',
  };
  bed.rule('inbound', () => denied);
  assert.equal((await request(application('/'), { headers: claims })).status, 401);
  assert.equal(bed.heads.at(-1)?.direction, 'inbound');
  bed.rule('inbound', () => pass);
  const seen = (await request(application('/'), { headers: claims })).json();
  for (const name of Object.keys(claims).filter((each) => /^x-(rossoctl|envoy|forwarded-client)/.test(each))) {
    assert.deepEqual(seen.values(name), [], name);
  }
});

test('a path that hides slashes is refused before it is decided', async () => {
  bed.rule('inbound', () => pass);
  const count = bed.heads.length;
  for (const path of ['/.well-known/..%2fsecret', '/a%5Cb']) {
    assert.equal((await request(application(path))).status, 400, path);
  }
  assert.equal(bed.heads.length, count);
});

test('every port of the pod is captured, over IPv6 as well', async () => {
  bed.rule('inbound', () => denied);
  assert.equal((await request(`http://${bed.namespace.ip}:9/`)).status, 401);
  assert.equal((await request(`http://[${bed.namespace.ip6}]:${bed.agent.port}/`)).status, 401);
  assert.deepEqual(bed.heads.at(-1)?.destination, { address: bed.namespace.ip6, port: bed.agent.port });
  bed.rule('inbound', () => pass);
  assert.equal((await request(`http://[${bed.namespace.ip6}]:${bed.agent.port}/`)).status, 200);
});

test("a dial of the sidecar's own ports is refused, from outside and from the application", async () => {
  bed.rule('inbound', () => pass);
  const { inbound, outbound } = bed.intent.ports;
  for (const port of [inbound, outbound]) {
    await assert.rejects(request(`http://${bed.namespace.ip}:${port}/`), /socket hang up|ECONNRESET/, `${port}`);
    for (const host of ['127.0.0.1', bed.namespace.ip]) {
      const { status, error } = await bed.agent.call({ url: `http://${host}:${port}/` });
      assert.deepEqual([status, error], [undefined, 'ECONNRESET'], `${host}:${port}`);
    }
  }
});

test('what is no HTTP is refused, TLS included', async () => {
  const count = bed.heads.length;
  const url = `https://${bed.namespace.ip}:${bed.agent.port}/`;
  await assert.rejects(fetch(url), /fetch failed/);
  const answer = await raw(bed, 'SSH-2.0-OpenSSH_9.2\r\n');
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request/);
  assert.equal(bed.heads.length, count);
});

test('nobody tunnels into the pod', async () => {
  bed.rule('inbound', () => pass);
  assert.match(await raw(bed, 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n'), /^HTTP\/1\.1 (403|404)/);
});

test('headers that are too large or too many are answered 431', async () => {
  const count = bed.heads.length;
  assert.equal((await request(application('/'), { headers: { 'x-large': 'x'.repeat(70_000) } })).status, 431);
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`x-${at}`, '1']));
  assert.equal((await request(application('/'), { headers: many })).status, 431);
  assert.equal(bed.heads.length, count);
});

test('the access log has a line for each request, without its query and without its headers', async () => {
  bed.rule('inbound', () => denied);
  const headers = { authorization: 'Bearer very-secret' };
  await request(application('/logged?token=very-secret'), { headers });
  const line = () => bed.access.find((each) => each['path'] === '/logged');
  await until(() => line() !== undefined);
  const { log, direction, status, details, method } = line() ?? {};
  assert.deepEqual(
    { log, direction, status, details, method },
    {
      log: 'access',
      direction: 'inbound',
      status: 401,
      details: 'rossoctl_no_token',
      method: 'GET',
    },
  );
  assert.doesNotMatch(JSON.stringify(bed.access) + bed.log.join(''), /very-secret/);
});

test('decisions are counted by direction and reason', async () => {
  bed.rule('inbound', () => denied);
  await request(application('/'));
  const text = await bed.metrics.text();
  assert.match(
    text,
    /rossoctl_sidecar_decisions_total\{direction="inbound",decision="refuse",reason="no_token",mtls="false"\} [1-9]/,
  );
  assert.match(text, /rossoctl_sidecar_decisions_active\{direction="inbound"\} 0/);
});
