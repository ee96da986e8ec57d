/** The explicit proxy of a pod whose traffic nobody redirects, with a real Envoy and the rules for outgoing calls. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../runtime/engine/clock.ts';
import type { Refusal } from '../../runtime/sidecar/decision.ts';
import { createAddresses } from '../../runtime/sidecar/outbound/addresses.ts';
import { createOutbound } from '../../runtime/sidecar/outbound/decide.ts';
import { createExplicit } from '../../runtime/sidecar/outbound/explicit.ts';
import { readRoutes } from '../../runtime/sidecar/outbound/routes.ts';
import { createAuthority } from '../support/svid.ts';
import { type Bed, pass, startBed } from './bed.ts';
import { request } from './client.ts';

const issuer = 'https://login.example/realms/agents';
const routes = readRoutes(
  JSON.stringify([
    { host: 'tool.test', audience: 'tool' },
    { host: 'closed.test', action: 'deny' },
  ]),
);
const ports = { inbound: 15124, outbound: 15123 };

/** A token of the issuer, as far as the sidecar looks. */
const callers = `x.${Buffer.from(JSON.stringify({ iss: issuer, exp: 4_000_000_000 })).toString('base64url')}.x`;

describe('in a pod whose traffic is not captured', () => {
  let bed: Bed;
  const servers: net.Server[] = [];
  const seen: http.IncomingMessage[] = [];
  let toolPort: number;

  before(async () => {
    bed = await startBed({ intent: { explicit: { application: 8080, isOutbound: true } } });
    assert.ok('value' in routes);
    const { ip, gateway } = bed.namespace;
    const hosts: Readonly<Record<string, string>> = {
      'tool.test': gateway,
      'plain.test': gateway,
      'closed.test': gateway,
      'me.test': ip,
      'here.test': '127.0.0.1',
    };
    const placeOf = createAddresses({
      resolve: async (host) => {
        const address = hosts[host];
        if (address === undefined) throw new Error(`no ${host}`);
        return [address];
      },
      clock: systemClock,
    });
    const rules = { routes: routes.value, placeOf, own: [ip], clock: systemClock };
    const outbound = createOutbound({
      mtls: { mode: 'disabled', unavailable: () => undefined },
      ...rules,
      issuer,
      fallback: undefined,
      tokenFor: async ({ audience }) => ({ kind: 'token', token: `for-${audience}`, lifeSeconds: 60 }),
    });
    bed.rule('outbound', createExplicit({ ...rules, outbound, port: ports.outbound }));
    toolPort = await listening(
      http.createServer((got, response) => {
        seen.push(got);
        response.end(`${got.url} ${got.headers.host} ${got.headers.authorization ?? '-'}`);
      }),
    );
  });
  after(async () => {
    for (const server of servers) server.close();
    await bed.stop();
  });

  /** Listens outside the pod. */
  async function listening(server: net.Server): Promise<number> {
    servers.push(server.listen(0, bed.namespace.gateway));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** What the proxy answers the application to these bytes, until either closes; `then`: sent after the first answer. */
  function sent(text: string, then?: string): Promise<string> {
    return bed.agent.converse({ host: '127.0.0.1', port: ports.outbound, send: [text, ...(then ? [then] : [])] });
  }

  const lines = (...all: readonly string[]) => [...all, 'connection: close', '', ''].join('\r\n');
  const bearer = `authorization: Bearer ${callers}`;
  const errorOf = (answer: string): unknown =>
    (JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { error: string }).error;

  test('a URL in the request line goes to its host, with a token for that host where a route says so', async () => {
    const plain = await sent(lines(`GET http://plain.test:${toolPort}/a//b?c=1 HTTP/1.1`, 'host: plain.test'));
    assert.match(plain, new RegExp(`^HTTP/1.1 200 OK[^]*/a//b\\?c=1 plain.test:${toolPort} -$`));
    const exchanged = await sent(lines(`GET http://tool.test:${toolPort}/ HTTP/1.1`, 'host: tool.test', bearer));
    assert.match(exchanged, /200 OK[^]* Bearer for-tool$/);
  });

  test('a path in the request line goes to the host of the header', async () => {
    const answer = await sent(lines('GET /x HTTP/1.1', `host: tool.test:${toolPort}`, bearer));
    assert.match(answer, /200 OK[^]*\/x tool.test:\d+ Bearer for-tool$/);
  });

  test('without a token, or to a host that no route names, the rules refuse as everywhere', async () => {
    const count = seen.length;
    const none = await sent(lines(`GET http://tool.test:${toolPort}/ HTTP/1.1`, 'host: tool.test'));
    assert.match(none, /^HTTP\/1.1 401/);
    assert.equal(errorOf(none), 'missing_token');
    const unnamed = await sent(lines(`GET http://plain.test:${toolPort}/ HTTP/1.1`, 'host: plain.test', bearer));
    assert.equal(errorOf(unnamed), 'no_route');
    const closed = await sent(lines(`GET http://closed.test:${toolPort}/ HTTP/1.1`, 'host: closed.test'));
    assert.equal(errorOf(closed), 'route_denied');
    assert.equal(seen.length, count);
  });

  test('a Host beside a URL counts for nothing: neither token nor request go by it', async () => {
    const answer = await sent(lines(`GET http://plain.test:${toolPort}/ HTTP/1.1`, 'host: tool.test', bearer));
    assert.equal(errorOf(answer), 'no_route');
    const other = await sent(lines(`GET http://plain.test:${toolPort}/ HTTP/1.1`, 'host: nowhere.test'));
    assert.match(other, new RegExp(` plain.test:${toolPort} -$`));
  });

  test('what is for the proxy goes no further, and what Envoy would obey is obeyed by nobody', async () => {
    const hop = ['proxy-authorization: Basic c2VjcmV0', 'proxy-connection: keep-alive'];
    const steering = `x-envoy-original-dst-host: ${bed.namespace.gateway}:9`;
    const url = `http://tool.test:${toolPort}/`;
    assert.match(await sent(lines(`GET ${url} HTTP/1.1`, 'host: tool.test', bearer, ...hop, steering)), /200 OK/);
    const names = Object.keys(seen.at(-1)?.headers ?? {});
    assert.deepEqual(
      names.filter((name) => /^(proxy|x-envoy)-/.test(name)),
      [],
    );
  });

  test('a host that cannot be looked up, a URL of https and a wrong authority are refused, each in its words', async () => {
    assert.equal(errorOf(await sent(lines('GET http://nowhere.test/ HTTP/1.1', 'host: a'))), 'host_unknown');
    const secure = await sent(lines('GET https://plain.test/ HTTP/1.1', 'host: plain.test'));
    assert.match(secure, /^HTTP\/1.1 400[^]*CONNECT HOST:PORT/);
    assert.match(await sent(lines('GET / HTTP/1.1', 'host: user@plain.test')), /^HTTP\/1.1 400/);
  });

  test('the proxy is never sent to itself, whatever it is called', async () => {
    for (const host of ['127.0.0.1', 'localhost.', 'here.test', 'me.test', '[::1]', '0.0.0.0', bed.namespace.ip]) {
      for (const line of [`GET http://${host}:${ports.outbound}/`, `CONNECT ${host}:${ports.outbound}`]) {
        const answer = await sent(lines(`${line} HTTP/1.1`, `host: ${host}:${ports.outbound}`));
        assert.match(answer, /^HTTP\/1.1 (?:403|503)[^]*(?:route_denied|host_unknown)/, `${line}: ${answer}`);
      }
    }
  });

  test('TLS passes a tunnel untouched and is counted; a host that is closed is closed to tunnels', async () => {
    const authority = await createAuthority('tools');
    const { key, chain } = await authority.issue('spiffe://example.org/tool');
    const port = await listening(
      tls.createServer({ key, cert: chain }, (socket) => socket.end('over TLS')) as unknown as net.Server,
    );
    const said = await bed.agent.connect({
      host: '127.0.0.1',
      port: ports.outbound,
      isTls: true,
      tunnel: `plain.test:${port}`,
    });
    assert.equal(said.body, 'over TLS');
    const stats = await bed.admin.stats('^tcp\\.outbound_tls\\.downstream_cx_total$');
    assert.equal(stats.get('tcp.outbound_tls.downstream_cx_total'), 1);
    const closed = await sent(lines(`CONNECT closed.test:${port} HTTP/1.1`, `host: closed.test:${port}`));
    assert.match(closed, /^HTTP\/1.1 403[^]*route_denied/);
    assert.match(await sent(lines('CONNECT plain.test HTTP/1.1', 'host: plain.test')), /^HTTP\/1.1 400/);
  });

  test('plain HTTP in a tunnel is decided like any other call, with an empty line before it as without', async () => {
    const open = `CONNECT tool.test:${toolPort} HTTP/1.1\r\nhost: tool.test:${toolPort}\r\n\r\n`;
    const inside = lines('GET /inside HTTP/1.1', `host: tool.test:${toolPort}`);
    assert.match(await sent(open, inside), /^HTTP\/1.1 200 OK[^]*HTTP\/1.1 401[^]*missing_token/);
    assert.match(await sent(open, `\r\n${inside}`), /^HTTP\/1.1 200 OK[^]*HTTP\/1.1 40[01]/);
    const withToken = lines('GET /inside HTTP/1.1', `host: tool.test:${toolPort}`, bearer);
    assert.match(await sent(open, withToken), /HTTP\/1.1 200 OK[^]*\/inside tool.test:\d+ Bearer for-tool$/);
    const elsewhere = await sent(open, lines('GET / HTTP/1.1', `host: plain.test:${toolPort}`, bearer));
    assert.match(elsewhere, /no_route/);
  });

  test('HTTP/2 in a tunnel, as gRPC makes it, is decided too', async () => {
    const server = http2.createServer((got, response) => response.end(got.headers.authorization ?? '-'));
    const port = await listening(server);
    const said = await bed.agent.call({
      url: `http://tool.test:${port}/a2a.A2AService/GetTask`,
      isHttp2: true,
      headers: { authorization: `Bearer ${callers}` },
      tunnel: { host: '127.0.0.1', port: ports.outbound },
    });
    assert.deepEqual([said.status, said.body], [200, 'Bearer for-tool']);
  });

  test('what is neither HTTP nor TLS does not get through a tunnel', async () => {
    let isReached = false;
    const port = await listening(
      net.createServer((socket) => {
        isReached = true;
        socket.end('220 ready\r\n');
      }),
    );
    const open = `CONNECT plain.test:${port} HTTP/1.1\r\nhost: plain.test:${port}\r\n\r\n`;
    assert.match(await sent(open, '*1\r\n$4\r\nPING\r\n'), /HTTP\/1.1 400/);
    assert.equal(isReached, false);
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
