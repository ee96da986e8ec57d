/** What goes through tunnels of the explicit proxy, with a real Envoy; and ordinary clients that heed the variables. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { after, before, test } from 'node:test';
import { throughProxy } from '../../runtime/authbridge/proxy-variables.ts';
import { createAuthority } from '../support/svid.ts';
import { bearer, callers, type ExplicitBed, lines, ports, startExplicitBed } from './explicit-bed.ts';

let bed: ExplicitBed;
let securePort: number;
before(async () => {
  bed = await startExplicitBed();
  const { key, chain } = await (await createAuthority('tools')).issue('spiffe://example.org/tool');
  securePort = await bed.listening(https.createServer({ key, cert: chain }, bed.answer));
});
after(() => bed.stop());

const nodeFetch = `fetch('{url}', { headers: { authorization: '{authorization}' } })
  .then((answer) => answer.text()).then((text) => process.stdout.write(text))`;
const nodeHttp = `const client = require('{url}'.startsWith('https') ? 'https' : 'http');
client.get('{url}', { headers: { authorization: '{authorization}' } }, (answer) => answer.pipe(process.stdout))`;
const urllib = `import ssl, urllib.request
request = urllib.request.Request('{url}', headers={'authorization': '{authorization}'})
print(urllib.request.urlopen(request, context=ssl._create_unverified_context()).read().decode(), end='')`;

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

test('TLS passes a tunnel untouched and is counted; a host that is closed is closed to tunnels', async () => {
  const authority = await createAuthority('tools');
  const { key, chain } = await authority.issue('spiffe://example.org/tool');
  const port = await bed.listening(
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
  const closed = await bed.sent(lines(`CONNECT closed.test:${port} HTTP/1.1`, `host: closed.test:${port}`));
  assert.match(closed, /^HTTP\/1.1 403[^]*route_denied/);
  assert.match(await bed.sent(lines('CONNECT plain.test HTTP/1.1', 'host: plain.test')), /^HTTP\/1.1 400/);
});

test('plain HTTP in a tunnel is decided like any other call, with an empty line before it as without', async () => {
  const open = `CONNECT tool.test:${bed.toolPort} HTTP/1.1\r\nhost: tool.test:${bed.toolPort}\r\n\r\n`;
  const inside = lines('GET /inside HTTP/1.1', `host: tool.test:${bed.toolPort}`);
  assert.match(await bed.sent(open, inside), /^HTTP\/1.1 200 OK[^]*HTTP\/1.1 401[^]*missing_token/);
  assert.match(await bed.sent(open, `\r\n${inside}`), /^HTTP\/1.1 200 OK[^]*HTTP\/1.1 40[01]/);
  const withToken = lines('GET /inside HTTP/1.1', `host: tool.test:${bed.toolPort}`, bearer);
  assert.match(await bed.sent(open, withToken), /HTTP\/1.1 200 OK[^]*\/inside tool.test:\d+ Bearer for-tool$/);
  const elsewhere = await bed.sent(open, lines('GET / HTTP/1.1', `host: plain.test:${bed.toolPort}`, bearer));
  assert.match(elsewhere, /no_route/);
});

test('HTTP/2 in a tunnel, as gRPC makes it, is decided too', async () => {
  const server = http2.createServer((got, response) => response.end(got.headers.authorization ?? '-'));
  const port = await bed.listening(server);
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
  const port = await bed.listening(
    net.createServer((socket) => {
      isReached = true;
      socket.end('220 ready\r\n');
    }),
  );
  const open = `CONNECT plain.test:${port} HTTP/1.1\r\nhost: plain.test:${port}\r\n\r\n`;
  assert.match(await bed.sent(open, '*1\r\n$4\r\nPING\r\n'), /HTTP\/1.1 400/);
  assert.equal(isReached, false);
});

/** By their own variables alone; each prints what it was answered. `{url}` and `{authorization}` are filled in. */
const clients: Readonly<Record<string, readonly string[]>> = {
  'node fetch': [process.execPath, '-e', nodeFetch],
  'node http': [process.execPath, '-e', nodeHttp],
  'python urllib': ['python3', '-c', urllib],
  curl: ['curl', '-sSk', '-H', 'authorization: {authorization}', '{url}'],
};
for (const [name, command] of Object.entries(clients)) {
  const skip = !isInstalled(command[0] ?? '') && `there is no ${command[0]} here`;
  test(`an ordinary client heeds the variables that the webhook sets: ${name}`, { skip }, async () => {
    const { env = [] } = throughProxy({ name: 'agent' }, ports.outbound);
    const run = (url: string) => {
      const filled = command.map((part) =>
        part.replaceAll('{url}', url).replaceAll('{authorization}', `Bearer ${callers}`),
      );
      return bed.namespace.read(filled, Object.fromEntries(env.map(({ name, value = '' }) => [name, value])));
    };
    const count = bed.seen.length;
    assert.match(await run(`http://tool.test:${bed.toolPort}/by-${name.replace(' ', '-')}`), / Bearer for-tool$/);
    assert.equal(bed.seen.length, count + 1);
    assert.match(await run(`https://tool.test:${securePort}/x`), / Bearer x\./, 'TLS passes as it is');
  });
}
