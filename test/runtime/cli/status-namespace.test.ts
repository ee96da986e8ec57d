/** `rossoctl status -n`: a name that none can have is refused unasked; one that the cluster does not know is said to be so. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { cli } from './run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-status-'));
const kubeconfig = path.join(directory, 'config');
/** An API server with one namespace `empty`, a namespace `secret` that may not be read, and no object of ours. */
const server = createServer(({ url = '' }, response) => {
  const name = /^\/api\/v1\/namespaces\/([^/?]+)$/.exec(url)?.[1];
  const code = name === undefined || name === 'empty' ? 200 : name === 'secret' ? 403 : 404;
  const body =
    code === 200
      ? { apiVersion: 'v1', kind: 'List', metadata: { name, resourceVersion: '1' }, items: [] }
      : { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason: 'x', message: 'no' };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

before(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
});
after(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

const status = (...flags: readonly string[]) => cli(['status', '--kubeconfig', kubeconfig, ...flags]);

for (const name of ['a/b', 'Team2', '-', 'a.b', 'x'.repeat(64)]) {
  test(`exit 2: ${name} is no name of a namespace`, async () => {
    const { code, out, err } = await status('-n', name);
    assert.deepEqual([code, out], [2, '']);
    assert.equal(
      err,
      `rossoctl: --namespace: ${JSON.stringify(name)} is no name of a namespace: lower-case letters, digits and dashes\n`,
    );
  });
}

test('exit 2: a namespace that the cluster does not have', async () => {
  const { code, out, err } = await status('-n', 'nope');
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^rossoctl: the cluster has no namespace nope; leave -n out to see all\n$/);
});

test('exit 0: a namespace without AgentRuntimes, one that may not be read, and all', async () => {
  for (const flags of [['-n', 'empty'], ['-n', 'secret'], []]) {
    const { code, out, err } = await status(...flags);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /There are no AgentRuntimes/);
  }
});
