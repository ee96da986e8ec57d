import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import type { ConfigMap } from '../../runtime/api/kubernetes.ts';
import { keepCertificates } from '../../runtime/engine/certificates.ts';
import {
  type Cluster,
  admit,
  bundle,
  configuration,
  configurationKind,
  install,
  keeperOptions,
  load,
  serve,
  startCluster,
  until,
  untilAdmitted,
} from './cluster-fixtures.ts';

describe('the webhook server as the API server uses it', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  const cleanups: (() => unknown)[] = [];
  before(async () => {
    cluster = await startCluster();
  });
  after(async () => {
    await cluster.stop();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
    await cluster.client.remove({ kind: configurationKind, name: 'hooks' });
  });

  async function served() {
    const { options, health } = keeperOptions(cluster);
    const kept = keepCertificates(options);
    cleanups.push(
      () => kept.stop(),
      () => health.stop(),
    );
    const certificate = await kept.certificate;
    const server = await serve(certificate);
    cleanups.push(() => server.close({ lingerMs: 0, graceMs: 100 }));
    await install(cluster, configuration(server.port));
    await until('published', async () => (await bundle(cluster)) !== '');
    await untilAdmitted(cluster);
    return { server, certificate };
  }

  test('a replica that ends, while another takes over, fails no admission', async () => {
    const { server, certificate } = await served();
    const next = await serve(certificate);
    cleanups.push(() => next.close({ lingerMs: 0, graceMs: 100 }));
    const { stop } = load(cluster, 100);
    await sleep(500);
    const closed = server.close({ lingerMs: 1000, graceMs: 2000 });
    await install(cluster, configuration(next.port));
    await closed;
    await sleep(500);
    const { count, failures } = await stop();
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(count > 100, `${count}`);
  });

  test('PM-05 the largest object is patched and keeps all that its owner wrote', async () => {
    await served();
    const data = { big: 'x'.repeat(1_000_000) };
    const annotations = { 'corp.example/x': '1' };
    const metadata = { namespace: 'default', generateName: 'big-', labels: { admit: 'inject' }, annotations };
    const made = await cluster.client.create<ConfigMap>(kinds.configMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data,
    });
    assert.deepEqual(made.metadata.annotations, { ...annotations, 'corp.example/seen': 'yes' });
    assert.equal(made.data?.['big']?.length, 1_000_000);
  });

  test('a webhook that is gone refuses the admission, and says which', async () => {
    const { server } = await served();
    await server.close({ lingerMs: 0, graceMs: 100 });
    assert.match((await admit(cluster)) ?? '', /failed calling webhook .*inject\.rossoctl\.io/);
  });
});
