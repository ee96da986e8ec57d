/** Bad input at the process: what cannot be used is refused with a sentence, what can be mended is waited for, and nothing running changes. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { configMaps, install } from '../../runtime/api/names.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading, untilReady } from '../support/operator-bed.ts';
import { kindOf } from '../support/operator-platform.ts';
import { type OperatorProcess, runOperator } from '../support/operator-process.ts';
import {
  createNamespace,
  featureGates,
  namespaceDefaults,
  platformConfig,
  putConfigMap,
  runtimeFor,
  workload,
  type Written,
} from '../support/workload-objects.ts';

describe('starts that are refused', { concurrency: 3 }, () => {
  const cases: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>, number, RegExp])[] = [
    ['an unknown flag', ['--webhook-prot=1'], {}, 2, /unknown argument "--webhook-prot=1".*--help/],
    ['a word that is no flag', ['start'], {}, 2, /unknown argument "start"/],
    ['a port that is none', ['--health-port=70000'], {}, 2, /--health-port: "70000": a port from 0 to 65535/],
    ['a bad variable', [], { NAMESPACES2WATCH: 'Team_1' }, 2, /NAMESPACES2WATCH: .*"Team_1" is not a namespace name/],
    [
      'a flag of manifests that are newer',
      ['--from-the-future'],
      { ROSSOCTL_MANIFESTS_RELEASE: '99.0.0' },
      2,
      /unknown argument "--from-the-future".*of the newer 99\.0\.0: set the image to that of 99\.0\.0/,
    ],
    ['no kubeconfig there', ['--kubeconfig=/nonexistent/kubeconfig'], {}, 1, /\/nonexistent\/kubeconfig/],
    ['no kubeconfig and no cluster', [], {}, 1, /serviceaccount/],
  ];
  for (const [name, argv, env, code, words] of cases) {
    test(`${name}: exit code ${code} and a sentence`, async () => {
      const end = await runOperator(argv, env);
      assert.equal(end.code, code, end.err);
      assert.match(end.err, words);
      assert.doesNotMatch(end.err, /\n\s+at /, 'no stack trace');
    });
  }
});

describe('bad input while it runs', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  let operator: OperatorProcess;
  let files: { readonly config: string; readonly gates: string };
  before(async () => {
    bed = await startOperatorBed('bad-input', { without: ['CustomResourceDefinition'] });
    files = { config: path.join(bed.dir, 'config.yaml'), gates: path.join(bed.dir, 'feature-gates.yaml') };
    writeFileSync(files.config, 'trace:\n  endpoint: file:4317\n');
    writeFileSync(files.gates, 'skillDiscovery: true\n');
  });
  after(() => bed.stop());

  test('a malformed kubeconfig and a port in use: exit code 1 and a sentence', async (t) => {
    const file = path.join(bed.dir, 'malformed');
    writeFileSync(file, 'clusters: [');
    const malformed = await runOperator([`--kubeconfig=${file}`]);
    assert.equal(malformed.code, 1);
    assert.ok(malformed.err.includes(file), malformed.err);
    const server = createServer().listen(0, '::');
    t.after(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const taken = await bed.start('taken', { flags: { 'health-port': address.port } });
    assert.equal((await taken.exit).code, 1);
    assert.match(taken.stderr, new RegExp(`rossoctl-operator: .*EADDRINUSE.*${address.port}`));
  });

  test('SIGTERM is heard while the API server does not answer yet', async () => {
    const proxy = await bed.faultProxy();
    proxy.set({ mode: 'black-hole' });
    const starting = await bed.start('starting', { port: proxy.port });
    await eventually(async () => assert.equal((await starting.readiness())?.ok, false));
    assert.deepEqual(await starting.stop(5_000), { code: 0, signal: null });
  });

  test('RB-02 without the CustomResourceDefinition it waits, says so, and begins when it is installed', async () => {
    operator = await bed.start('op', { flags: { 'config-path': files.config, 'feature-gates-path': files.gates } });
    await eventually(async () => {
      const readiness = await operator.readiness();
      assert.equal(readiness?.ok, false);
      const failing = readiness.checks.find(({ name }) => name === 'webhook-cache');
      assert.match(failing?.reason ?? '', /watch agentruntimes: .*404/);
      const said = readiness.degraded.find(({ name }) => name === 'installation')?.reason ?? '';
      assert.match(said, /CustomResourceDefinition agentruntimes\.\S+ does not exist: apply/);
    });
    await bed.installRest();
    await untilReady(operator);
    await untilLeading(operator);
    await eventually(() => bed.service.ready.includes('op'));
  });

  test('malformed ConfigMaps and files: named in the status, or kept as they were; no pod template changes; mended ones count', async () => {
    const { client } = bed;
    const ns = await createNamespace(client, 'bad');
    const object = workload('Deployment', ns, 'weather');
    await client.create(kindOf(object), object);
    const runtime = runtimeFor(object);
    await client.create(kinds.agentRuntime, runtime);
    await untilSays(client, runtime, 'Active/Configured');
    const key = { namespace: ns, name: 'weather' };
    const good = await client.get(kinds.deployment, key);
    const { hash } = carriedBy({ ...good, apiVersion: 'apps/v1', kind: 'Deployment' });
    const own = install.namespace;
    const bad: readonly (readonly [Written, string | RegExp])[] = [
      [platformConfig('trace: [\n'), `${own}/${configMaps.platform.name}`],
      [platformConfig('trace:\n  endpiont: x\n'), /trace\.endpiont.*did you mean endpoint/],
      [featureGates('envoyProxy: "false"\n'), `${own}/${configMaps.gates.name}`],
      [namespaceDefaults(ns, 'images:\n  envoyProxy: evil/image:1\n'), `${ns}/defaults`],
    ];
    for (const [configMap, words] of bad) {
      await putConfigMap(client, configMap);
      const { status } = await untilSays(client, runtime, 'Error/ConfigInvalid');
      if (typeof words === 'string') assert.ok(status?.message?.includes(words), words);
      else assert.match(status?.message ?? '', words);
      await client.remove({
        kind: kinds.configMap,
        namespace: configMap.metadata.namespace,
        name: configMap.metadata.name ?? '',
      });
      await untilSays(client, runtime, 'Active/Configured');
    }

    writeFileSync(files.config, 'trace: [\n');
    writeFileSync(files.gates, 'envoyProxy: maybe\n');
    await eventually(async () => {
      const { degraded = [], ok } = (await operator.readiness()) ?? {};
      assert.equal(ok, true);
      assert.ok(degraded.find(({ name }) => name === 'configuration-files')?.reason?.includes(files.config));
    });
    writeFileSync(files.gates, 'skillDiscovery: true\n');
    const { metadata } = await client.get(kinds.deployment, key);
    assert.equal(metadata.generation, good.metadata.generation, 'nothing running changed');

    writeFileSync(files.config, 'trace:\n  endpoint: mended:4317\n');
    await eventually(async () => {
      const now = await client.get(kinds.deployment, key);
      assert.notEqual(carriedBy({ ...now, apiVersion: 'apps/v1', kind: 'Deployment' }).hash, hash);
      assert.deepEqual((await operator.readiness())?.degraded, []);
    });
  });
});
