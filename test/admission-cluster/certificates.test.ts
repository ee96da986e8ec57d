import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import { certificatesIn, isTrusted } from '../../runtime/engine/certificate-authority.ts';
import {
  type CertificateKeeper,
  type CertificateOptions,
  keepCertificates,
} from '../../runtime/engine/certificates.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import {
  type Cluster,
  bundle,
  configuration,
  configurationKind,
  install,
  keeperOptions,
  labels,
  load,
  secretKey,
  serve,
  setBundle,
  startCluster,
  until,
  untilAdmitted,
} from './cluster-fixtures.ts';

describe('certificates kept by the operator, on a real API server', { timeout: 600_000 }, () => {
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
    for (const target of [
      { kind: kinds.secret, ...secretKey },
      { kind: configurationKind, name: 'hooks' },
    ]) {
      await cluster.client.remove(target).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  });

  function keeper(overrides: Partial<CertificateOptions> = {}) {
    const made = keeperOptions(cluster, overrides);
    const kept: CertificateKeeper = keepCertificates(made.options);
    cleanups.push(
      () => kept.stop(),
      () => made.health.stop(),
    );
    return { ...made, kept };
  }

  /** A keeper whose certificate is served, and a configuration that calls it. */
  async function served(overrides: Partial<CertificateOptions> = {}) {
    const one = keeper(overrides);
    const certificate = await one.kept.certificate;
    const server = await serve(certificate);
    cleanups.push(() => server.close({ lingerMs: 0 }));
    await install(cluster, configuration(server.port));
    await until('ready', () => one.health.readyz().ok);
    await untilAdmitted(cluster);
    return { ...one, certificate, server };
  }

  const liveSecret = () => cluster.client.get(kinds.secret, secretKey);

  test('made from nothing: Secret, caBundle of each webhook, admission by the API server; nothing else is touched', async () => {
    await served();
    const secret = await liveSecret();
    assert.equal(secret.type, 'kubernetes.io/tls');
    assert.deepEqual(secret.metadata.labels, labels);
    const found = await cluster.client.get(configurationKind, { name: 'hooks' });
    const managers = (found.metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);
    assert.deepEqual(managers.sort(), ['installer Apply', 'rossoctl-certificates Update']);
    assert.ok(
      (found.webhooks ?? []).every(
        ({ clientConfig }) => clientConfig.caBundle === found.webhooks?.[0]?.clientConfig.caBundle,
      ),
    );
    const { resourceVersion } = found.metadata;
    const secretVersion = secret.metadata.resourceVersion;
    await sleep(1000);
    assert.equal(
      (await cluster.client.get(configurationKind, { name: 'hooks' })).metadata.resourceVersion,
      resourceVersion,
    );
    assert.equal((await liveSecret()).metadata.resourceVersion, secretVersion, 'and nothing is written again');
  });

  test('AD-02 authority and leaf are renewed several times under 50 admissions a second: none fails', async () => {
    // Long enough that a starved machine renews in time: what is shown is the order of things, not their speed.
    const { certificate, metrics, server } = await served({ lifetimes: { authorityMs: 36_000, leafMs: 12_000 } });
    const leaves = new Set<string>();
    const authorities = new Set<string>();
    certificate.subscribe((next) => leaves.add(next.certificate));
    const { stop } = load(cluster);
    const end = performance.now() + 120_000;
    let most = 0;
    while ((leaves.size < 4 || authorities.size < 3) && performance.now() < end) {
      const found = certificatesIn(await bundle(cluster));
      most = Math.max(most, found.length);
      for (const one of found) authorities.add(one.fingerprint256);
      await sleep(200);
    }
    const { count, failures } = await stop();
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(count >= 100, `${count} admissions`);
    assert.ok(leaves.size >= 4, `${leaves.size} leaves`);
    assert.ok(authorities.size >= 3, `${authorities.size} authorities`);
    assert.equal(most, 2, 'the old authority is there beside the new one, and leaves when it has expired');
    assert.match(await metrics.text(), /^rossoctl_webhook_certificate_expiry_seconds [\d.]+$/m);
    assert.ok(server.port > 0);
  });

  test('AD-02 the Secret is deleted, or emptied, under load: everything is made anew and no admission fails', async () => {
    const { certificate } = await served();
    const { stop } = load(cluster);
    for (const destroy of [
      () => cluster.client.remove({ kind: kinds.secret, ...secretKey }),
      async () =>
        cluster.client.replace(kinds.secret, { ...(await liveSecret()), data: { 'tls.crt': '', 'tls.key': '' } }),
    ]) {
      const old = certificate.current.certificate;
      await destroy();
      await until('another leaf is served', () => certificate.current.certificate !== old);
      await sleep(500);
    }
    const { failures } = await stop();
    assert.deepEqual([...new Set(failures)], []);
  });

  test('AD-02 two keepers at once: one Secret, one authority, both serve the same; through renewals what each serves is trusted', async () => {
    // Long enough that a starved machine renews in time: what is shown is the order of things, not their speed.
    const lifetimes = { authorityMs: 45_000, leafMs: 15_000 };
    await install(cluster, configuration(1));
    const both = [keeper({ lifetimes }), keeper({ lifetimes })];
    const lives = await Promise.all(both.map(({ kept }) => kept.certificate));
    assert.equal(lives[0]?.current.certificate, lives[1]?.current.certificate);
    await until('both ready', () => both.every(({ health }) => health.readyz().ok));
    const end = performance.now() + 120_000;
    const served = new Set<string>();
    while (served.size < 3 && performance.now() < end) {
      // First what is served, then what is trusted: whoever renews in between has published before it serves. What counts is then, however long the answer takes.
      const at = new Date();
      const now = lives.map(({ current }) => current.certificate);
      const trusted = await bundle(cluster);
      for (const certificate of now) {
        served.add(certificate);
        assert.ok(isTrusted(certificate, trusted, at), `at ${at.toISOString()}:\n${certificate}\n${trusted}`);
      }
      await sleep(50);
    }
    assert.ok(served.size >= 3, `${served.size}`);
    assert.ok(certificatesIn(await bundle(cluster)).length <= 3);
  });

  test('a wiped, foreign or replaced caBundle is restored', async () => {
    const { kept, server } = await served({ lookEveryMs: 3_600_000 });
    const good = await bundle(cluster);
    const { current } = await kept.certificate;
    for (const wiped of ['', current.certificate]) {
      await setBundle(cluster, wiped);
      kept.look();
      await until('restored', async () => (await bundle(cluster)) === good);
      await untilAdmitted(cluster);
    }
    const live = await cluster.client.get(configurationKind, { name: 'hooks' });
    const { metadata } = live;
    await cluster.client.replace(configurationKind, { ...configuration(server.port), metadata });
    assert.equal(await bundle(cluster), '');
    kept.look();
    await until('restored after a replace', async () => (await bundle(cluster)) === good);
  });

  test('an installer may drop one of its webhooks: no entry of ours holds it', async () => {
    const { server } = await served();
    const { webhooks = [], ...rest } = configuration(server.port);
    await install(cluster, { ...rest, webhooks: webhooks.slice(0, 1) });
    assert.equal((await cluster.client.get(configurationKind, { name: 'hooks' })).webhooks?.length, 1);
  });

  test('a Secret that is somebody else’s is left alone, and readiness says what to do', async () => {
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: secretKey, data: { password: 'eA==' } };
    await cluster.client.create(kinds.secret, foreign);
    const { health, kept, lines } = keeper();
    await until('said', () =>
      /somebody else/.test(health.readyz().checks.find(({ name }) => name === 'certificate')?.reason ?? ''),
    );
    await sleep(500);
    assert.deepEqual((await liveSecret()).data, foreign.data);
    assert.equal(lines.filter((line) => line.includes('CERTIFICATE_SECRET_FOREIGN')).length, 1, 'said once');
    await cluster.client.remove({ kind: kinds.secret, ...secretKey });
    await install(cluster, configuration(1));
    await kept.certificate;
    await until('ready', () => health.readyz().ok);
  });

  test('AD-05 absent, wrongly named, misdirected: readiness output, metric and log say so; none of it fails readiness', async () => {
    const { health, metrics, lines, kept } = keeper({ endpoint: { service: { namespace: 'default', name: 'hook' } } });
    const reason = (): string =>
      health.readyz().degraded.find(({ name }) => name === 'webhook-configuration')?.reason ?? '';
    await until('absent', () => /MutatingWebhookConfiguration hooks does not exist/.test(reason()));
    assert.equal(health.readyz().ok, true);
    assert.match(
      await metrics.text(),
      /rossoctl_webhook_configuration_fault\{kind="MutatingWebhookConfiguration",name="hooks"\} 1/,
    );
    assert.match(lines.join(''), /webhook configuration is at fault/);
    await install(cluster, configuration(1, 'prefix-hooks'));
    await sleep(300);
    assert.match(reason(), /does not exist/);
    await cluster.client.remove({ kind: configurationKind, name: 'prefix-hooks' });
    await install(cluster, configuration(1));
    await until('a URL instead of the Service', () => /instead of Service default\/hook/.test(reason()));
    await cluster.client.remove({ kind: configurationKind, name: 'hooks' });
    const { webhooks = [], ...rest } = configuration(1);
    const right = webhooks.map((hook) => ({
      ...hook,
      clientConfig: { service: { namespace: 'default', name: 'hook', path: '/mutate' } },
    }));
    await install(cluster, { ...rest, webhooks: right });
    kept.look();
    await until('sound', () => health.readyz().degraded.length === 0);
    assert.notEqual(await bundle(cluster), '');
    await cluster.client.remove({ kind: configurationKind, name: 'hooks' });
    await until('degraded', () => health.readyz().degraded.length === 1);
    assert.equal(health.readyz().ok, true);
    assert.match(await metrics.text(), /configuration_fault\{[^}]+\} 1/);
  });

  test('the API server away for a while: the served certificate stays, and all goes on afterwards', async () => {
    const { health, certificate } = await served();
    const { current } = certificate;
    await cluster.plane.stopApiServer();
    await sleep(1500);
    assert.equal(certificate.current, current);
    assert.equal(health.readyz().ok, true);
    await cluster.plane.startApiServer();
    await setBundle(cluster, '');
    await until('restored', async () => (await bundle(cluster)) !== '');
  });
});
