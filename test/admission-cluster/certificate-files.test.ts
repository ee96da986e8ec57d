import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { followCertificateFiles } from '../../runtime/engine/certificate-files.ts';
import type { ServingCertificate } from '../../runtime/engine/server.ts';
import { testAuthority } from '../runtime/engine/admission-fixtures.ts';
import {
  type Cluster,
  configuration,
  configurationKind,
  install,
  keeperOptions,
  load,
  serve,
  setBundle,
  startCluster,
  until,
  untilAdmitted,
} from './cluster-fixtures.ts';

describe('certificates made by somebody else and mounted as files', { timeout: 600_000 }, () => {
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

  /** A directory as the kubelet mounts a Secret. */
  async function mounted() {
    const directory = await mkdtemp(join(tmpdir(), 'certificate-files-'));
    cleanups.push(() => rm(directory, { recursive: true, force: true }));
    let version = 0;
    for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, join(directory, name));
    const swap = async ({ certificate, key }: ServingCertificate): Promise<void> => {
      version += 1;
      const folder = join(directory, `..v${version}`);
      await mkdir(folder);
      await writeFile(join(folder, 'tls.crt'), certificate);
      await writeFile(join(folder, 'tls.key'), key);
      await symlink(`..v${version}`, join(directory, '..data_tmp'));
      await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    };
    return { directory, swap };
  }

  async function served() {
    const old = await testAuthority('old');
    const next = await testAuthority('next');
    const { directory, swap } = await mounted();
    await swap(await old.leaf());
    const { options, health } = keeperOptions(cluster);
    const followed = followCertificateFiles({ ...options, directory });
    cleanups.push(
      () => followed.stop(),
      () => health.stop(),
    );
    const certificate = await followed.certificate;
    const server = await serve(certificate);
    cleanups.push(() => server.close({ lingerMs: 0 }));
    await install(cluster, configuration(server.port));
    await setBundle(cluster, old.authority.certificate);
    await untilAdmitted(cluster);
    const isServed = ({ certificate: pem }: ServingCertificate) => certificate.current.certificate === pem;
    const pems = { old: old.authority.certificate, next: next.authority.certificate };
    return { old, next, pems, swap, certificate, health, isServed };
  }

  test('AD-02 a leaf of the same authority is swapped in under 50 admissions a second: it is served, and none fails', async () => {
    const { old, swap, isServed } = await served();
    const { stop } = load(cluster);
    for (let i = 0; i < 4; i += 1) {
      await sleep(500);
      const leaf = await old.leaf();
      await swap(leaf);
      await until('served', () => isServed(leaf));
    }
    await sleep(500);
    const { count, failures } = await stop();
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(count > 20, `${count}`);
  });

  test('AD-02 caBundle first, then the files: no admission fails', async () => {
    const { next, pems, swap, isServed } = await served();
    const { stop } = load(cluster);
    await setBundle(cluster, pems.old + pems.next);
    await sleep(500);
    const leaf = await next.leaf();
    await swap(leaf);
    await until('served', () => isServed(leaf));
    await sleep(500);
    await setBundle(cluster, pems.next);
    await sleep(1000);
    assert.deepEqual([...new Set((await stop()).failures)], []);
  });

  test('AD-02 the files first, then caBundle: the new leaf waits until it is trusted, and no admission fails', async () => {
    const { next, pems, swap, isServed, health } = await served();
    const { stop } = load(cluster);
    const leaf = await next.leaf();
    await swap(leaf);
    await sleep(1500);
    assert.equal(isServed(leaf), false);
    assert.equal(health.readyz().ok, true);
    await setBundle(cluster, pems.old + pems.next);
    await until('served', () => isServed(leaf));
    await sleep(500);
    await setBundle(cluster, pems.next);
    await sleep(1000);
    assert.deepEqual([...new Set((await stop()).failures)], []);
  });

  test('caBundle replaced without an overlap: admissions fail until that is seen, and not afterwards', async () => {
    const { next, pems, swap, isServed } = await served();
    const leaf = await next.leaf();
    await swap(leaf);
    await sleep(500);
    await setBundle(cluster, pems.next);
    await until('served', () => isServed(leaf));
    await untilAdmitted(cluster);
    const { stop } = load(cluster);
    await sleep(1000);
    assert.deepEqual([...new Set((await stop()).failures)], []);
  });

  test('files that do not belong together are not served, and readiness is kept', async () => {
    const { old, swap, certificate, health } = await served();
    const { current } = certificate;
    await swap({ certificate: (await old.leaf()).certificate, key: (await old.leaf()).key });
    await sleep(500);
    assert.equal(certificate.current, current);
    assert.equal(health.readyz().ok, true);
    const leaf = await old.leaf();
    await swap(leaf);
    await until('mended', () => certificate.current.certificate === leaf.certificate);
  });
});
