import assert from 'node:assert/strict';
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
