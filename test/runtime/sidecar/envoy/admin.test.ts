import assert from 'node:assert/strict';
import { test } from 'node:test';
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
