import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { adminClient } from '../../../../runtime/sidecar/envoy/admin/client.ts';
import { serveAdmin } from '../../../../runtime/sidecar/envoy/admin/server.ts';

test('shows pages of Envoy, with the parameters that only choose what is shown, and nothing that acts', async () => {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve({ status: 200, contentType: 'text/plain', body: 'page' });
  };
  const server = await serveAdmin(0, { get });
  const at = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  try {
    assert.equal(await (await at('/stats?filter=http&usedonly=1&hijack=1')).text(), 'page');
    assert.deepEqual(asked, ['/stats?filter=http&usedonly=1']);
    for (const path of [
      '/quitquitquit',
      '/drain_listeners',
      '/logging',
      '/healthcheck/fail',
      '/runtime_modify',
      '/cpuprofiler',
    ]) {
      assert.equal((await at(path)).status, 404, path);
      assert.equal((await at(path, 'POST')).status, 404, path);
    }
    assert.equal((await at('/config_dump', 'POST')).status, 404);
    assert.match(await (await at('/')).text(), /^\/certs\n/);
    assert.equal(asked.length, 1);
  } finally {
    await server.close();
  }
});

test('says so when Envoy does not answer', async () => {
  const server = await serveAdmin(0, { get: () => Promise.reject(new Error('connect ENOENT')) });
  try {
    const answer = await fetch(`http://127.0.0.1:${server.port}/ready`);
    assert.equal(answer.status, 503);
    assert.equal(await answer.text(), 'Envoy does not answer: connect ENOENT\n');
  } finally {
    await server.close();
  }
});

test('makes two pages at a time: whoever asks for more is told to ask again, and is answered then', async () => {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  let asked = 0;
  const get = async () => {
    asked += 1;
    await given;
    return { status: 200, contentType: 'text/plain', body: 'page' };
  };
  const server = await serveAdmin(0, { get });
  const page = () => fetch(`http://127.0.0.1:${server.port}/stats`);
  try {
    const answers = [page(), page(), page(), page(), page()];
    const early: Response[] = [];
    await new Promise<void>((resolve) => {
      for (const each of answers) void each.then((answer) => early.push(answer) === 3 && resolve());
    });
    for (const answer of early) {
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
      assert.equal(await answer.text(), 'other pages are being made: ask again\n');
    }
    give();
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort((a, b) => a - b);
    assert.deepEqual(statuses, [200, 200, 503, 503, 503]);
    assert.equal(asked, 2);
    assert.equal((await page()).status, 200);
  } finally {
    await server.close();
  }
});

test('a page that has no end is given up', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'admin-'));
  const socket = path.join(folder, 'socket');
  const server = createServer((request, reply) => {
    if (request.url === '/ready') return reply.end('LIVE');
    const more = (): void => void (reply.destroyed || reply.write(Buffer.alloc(1024 * 1024), () => setImmediate(more)));
    return more();
  }).listen(socket);
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const client = adminClient(socket, 30_000);
  assert.deepEqual(await client.get('/ready'), { status: 200, contentType: 'text/plain', body: 'LIVE' });
  await assert.rejects(client.get('/stats'), { code: 'BODY_EXCEEDS', what: 'bytes' });
});
