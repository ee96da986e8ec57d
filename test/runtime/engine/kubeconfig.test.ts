import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { inClusterConnection, kubeconfigConnection } from '../../../runtime/engine/kubeconfig.ts';
import { fakeClock } from '../../support/fake-clock.ts';

let dir = '';
before(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
});
after(() => rmSync(dir, { recursive: true }));

function kubeconfig(name: string, config: unknown): string {
  const file = path.join(dir, name);
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return file;
}
const config = {
  'current-context': 'one',
  clusters: [
    {
      name: 'c',
      cluster: {
        server: 'https://127.0.0.1:6443/',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
      },
    },
  ],
  users: [{ name: 'u', user: { token: 'secret-token' } }],
  contexts: [
    { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'team1' } },
    { name: 'odd', context: { cluster: 'gone', user: 'u' } },
  ],
};

test('a kubeconfig gives server, namespace, trust and the authorization header', async () => {
  const connection = await kubeconfigConnection({ path: kubeconfig('good', config) }, fakeClock());
  assert.equal(connection.server, 'https://127.0.0.1:6443');
  assert.equal(connection.currentNamespace, 'team1');
  assert.equal(await connection.authorization(), 'Bearer secret-token');
  assert.equal(String((await connection.tls()).ca), 'CA');
});

test('a rotated token is read again after a refresh', async () => {
  const file = kubeconfig('rotating', config);
  const connection = await kubeconfigConnection({ path: file }, fakeClock());
  await connection.authorization();
  kubeconfig('rotating', { ...config, users: [{ name: 'u', user: { token: 'next' } }] });
  assert.equal(await connection.authorization(), 'Bearer secret-token');
  connection.refresh();
  assert.equal(await connection.authorization(), 'Bearer next');
});

for (const [why, make, message] of [
  ['is not there', () => ({ path: '/nowhere/config' }), /\/nowhere\/config cannot be used: .*ENOENT.*--kubeconfig/],
  ['is no YAML', () => ({ path: kubeconfig('broken', '{: [') }), /broken cannot be used/],
  ['is empty', () => ({ path: kubeconfig('empty', '') }), /empty (cannot be used|has no context)/],
  [
    'lacks the context',
    () => ({ path: kubeconfig('good2', config), context: 'two' }),
    /no context two: it has one, odd; pass --context/,
  ],
  [
    'has a context without a cluster',
    () => ({ path: kubeconfig('good3', config), context: 'odd' }),
    /context odd: its cluster is missing/,
  ],
] as const) {
  test(`a kubeconfig that ${why} is refused with path and remedy, and no secret`, async () => {
    await assert.rejects(kubeconfigConnection(make(), fakeClock()), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'KUBECONFIG_INVALID');
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret-token/);
      return true;
    });
  });
}

test('in a cluster the token is read again when its file changes, and every minute', async () => {
  const clock = fakeClock();
  const write = (token: string, at: number): void => {
    kubeconfig('token', token);
    utimesSync(path.join(dir, 'token'), at, at);
  };
  kubeconfig('namespace', 'team1\n');
  kubeconfig('ca.crt', 'CA');
  write('one', 1);
  const connection = inClusterConnection({ host: 'fd00::1', port: '443', directory: dir }, clock);
  assert.equal(connection.server, 'https://[fd00::1]:443');
  assert.equal(connection.currentNamespace, 'team1');
  assert.equal(await connection.authorization(), 'Bearer one');
  write('two', 1);
  assert.equal(await connection.authorization(), 'Bearer one');
  write('three', 2);
  assert.equal(await connection.authorization(), 'Bearer three');
  write('four', 2);
  await clock.advance(61_000);
  assert.equal(await connection.authorization(), 'Bearer four');
  write('five', 2);
  connection.refresh();
  assert.equal(await connection.authorization(), 'Bearer five');
  assert.throws(() => inClusterConnection({ host: 'h', port: '1', directory: '/nowhere' }, clock), {
    code: 'KUBECONFIG_INVALID',
  });
});
