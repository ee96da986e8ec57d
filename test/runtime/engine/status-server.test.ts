import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { createHealth } from '../../../runtime/engine/health.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { serveStatus } from '../../../runtime/engine/status-server.ts';

test('probes and metrics are served; what is missing is said', async () => {
  const health = createHealth();
  const metrics = createMetrics({ process: false });
  metrics.counter({ name: 'seen_total', help: 'Seen.' }).inc({});
  const server = await serveStatus({ port: 0, host: '127.0.0.1', health, metrics });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };
  try {
    assert.deepEqual(await get('/healthz'), { status: 200, type: 'text/plain; charset=utf-8', body: 'ok\n' });
    health.ready('cache', () => 'pods are not listed yet');
    health.degraded('cards', () => 'the CRD is absent');
    assert.deepEqual(
      [(await get('/readyz')).status, (await get('/readyz')).body],
      [503, 'cache: pods are not listed yet\n'],
    );
    const verbose = await get('/readyz?verbose');
    assert.deepEqual(JSON.parse(verbose.body), {
      ok: false,
      checks: [{ name: 'cache', ok: false, reason: 'pods are not listed yet' }],
      degraded: [{ name: 'cards', ok: false, reason: 'the CRD is absent' }],
    });
    assert.equal((await get('/healthz')).status, 200);
    assert.match((await get('/metrics')).body, /^seen_total 1$/m);
    assert.equal((await get('/etc/passwd')).status, 404);
  } finally {
    await server.close();
    health.stop();
  }
});

const parts = () => ({
  port: 0,
  host: '127.0.0.1',
  health: createHealth(),
  metrics: createMetrics({ process: false }),
});

async function connected(port: number, localAddress: string): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('whoever holds connections open keeps nobody out: the oldest of an address go, and the oldest of all', async () => {
  const options = parts();
  const server = await serveStatus({ ...options, connections: { total: 6, perSource: 3 } });
  const open: net.Socket[] = [];
  const hold = async (source: string): Promise<net.Socket> => {
    const socket = await connected(server.port, source);
    open.push(socket);
    return socket;
  };
  try {
    const first = await hold('127.0.0.2');
    await hold('127.0.0.2');
    await hold('127.0.0.2');
    const ended = once(first, 'close');
    await hold('127.0.0.2');
    await ended;
    const oldest = once(open[1] ?? first, 'close');
    for (const source of ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']) await hold(source);
    await oldest;
    assert.deepEqual(
      open.map(({ closed }) => closed),
      [true, true, false, false, false, false, false, false],
    );
    const answer = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    assert.equal(answer.status, 200);
  } finally {
    for (const socket of open) socket.destroy();
    await server.close();
    options.health.stop();
  }
});

test('scrapes of one moment are one scrape, for as long as is said', async () => {
  const options = parts();
  let looks = 0;
  const gauge = { name: 'looks', help: 'Looks.', collect: () => void (looks += 1) };
  options.metrics.gauge(gauge);
  const server = await serveStatus({ ...options, metricsAgeMs: 60_000 });
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  try {
    const texts = await Promise.all([scrape(), scrape(), scrape()]);
    assert.equal(new Set([...texts, await scrape()]).size, 1);
    assert.equal(looks, 1);
  } finally {
    await server.close();
    options.health.stop();
  }
});
