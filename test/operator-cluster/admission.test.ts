/** Pods and AgentRuntimes through a real API server to operator processes: what is injected, what is refused in which words, whatever happens to the certificate. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { annotations, install, labels, webhookConfigurations } from '../../runtime/api/names.ts';
import { eventually } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { createNamespace, runtimeFor, workload } from '../support/workload-objects.ts';

describe('admission through the API server', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  let operators: readonly OperatorProcess[];
  const namespace = 'admitted';
  before(async () => {
    bed = await startOperatorBed('admission-process');
    operators = [await bed.startReady('one'), await bed.startReady('two')];
    await untilLeading(operators[0] as OperatorProcess);
    await createNamespace(bed.client, namespace);
    for (const kind of ['Deployment', 'StatefulSet'] as const) {
      const object = workload(kind, namespace, kind.toLowerCase());
      await bed.client.create(kindOf(object), object);
      await bed.client.create(kinds.agentRuntime, runtimeFor(object));
      await untilSays(bed.client, runtimeFor(object), 'Active/Configured');
      // Without a node no pod ever gets ready, and a StatefulSet would wait for its first one.
      const target = { kind: kindOf(object), namespace, name: kind.toLowerCase() };
      await bed.client.mergePatch(target, { spec: { replicas: 1 } });
    }
  });
  after(() => bed.stop());

  /** A pod of the Deployment as its owner wrote it, as a dry run. */
  async function dryRun(container = 'agent'): Promise<Pod> {
    const metadata = { namespace, generateName: 'deployment-', labels: { [labels.type]: 'agent' } };
    const containers = [{ name: container, image: 'example.test/agent:1', ports: [{ containerPort: 8080 }] }];
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } };
    return (await bed.transport.request({ method: 'POST', path, query: { dryRun: 'All' }, body, retries: 0 })) as Pod;
  }

  test('pods of enrolled workloads are injected, as a dry run and for real, with the hash they were built from', async () => {
    const dry = await dryRun();
    const names = [...(dry.spec.initContainers ?? []), ...dry.spec.containers].map(({ name }) => name);
    assert.deepEqual(names, ['proxy-init', 'envoy-proxy', 'agent']);
    for (const app of ['deployment', 'statefulset']) {
      await eventually(async () => {
        const { items } = await bed.client.list<Pod>(kinds.pod, { namespace, labels: `app=${app}` });
        const { status } = await bed.client.get(kinds.agentRuntime, { namespace, name: app });
        const injected = items.filter(({ metadata }) => metadata.annotations?.[annotations.injected] !== undefined);
        assert.ok(injected.length >= 1, `${items.length} pods of ${app}, none injected`);
        assert.equal(injected[0]?.metadata.annotations?.[annotations.configHash], status?.configHash);
      });
    }
  });

  test('what is refused is refused in our words', async () => {
    await assert.rejects(dryRun('envoy-proxy'), /denied the request: .*envoy-proxy/s);
    const second = {
      ...runtimeFor(workload('Deployment', namespace, 'deployment')),
      metadata: { namespace, name: 'second' },
    };
    await assert.rejects(
      bed.client.create(kinds.agentRuntime, second),
      /denied the request: an AgentRuntime already targets Deployment deployment/,
    );
    const byHand = workload('Deployment', namespace, 'by-hand', { labels: { [labels.type]: 'agent' } });
    await assert.rejects(bed.client.create(kinds.deployment, byHand as never), /create an AgentRuntime/);
  });

  test('AD-02 the certificate Secret deleted, emptied, and its authority replaced under 50 admissions a second: none fails', async () => {
    const failures: string[] = [];
    let admitted = 0;
    const loading = new AbortController();
    const load = (async () => {
      const pending = new Set<Promise<void>>();
      while (!loading.signal.aborted) {
        await sleep(20);
        // On a starved machine more would only wait for each other, and for longer than the API server does.
        if (pending.size >= 25) continue;
        const one = dryRun().then(
          () => void (admitted += 1),
          (error: unknown) => void failures.push(String(error)),
        );
        pending.add(one);
        void one.finally(() => pending.delete(one));
      }
      await Promise.all(pending);
    })();
    const key = { namespace: install.namespace, name: install.certificateSecret };
    const certificate = async (): Promise<string> => (await bed.client.get(kinds.secret, key)).data?.['tls.crt'] ?? '';
    const harms = [
      () => bed.client.remove({ kind: kinds.secret, ...key }),
      async () =>
        bed.client.replace(kinds.secret, {
          ...(await bed.client.get(kinds.secret, key)),
          data: { 'tls.crt': '', 'tls.key': '' },
        }),
      async () => bed.client.mergePatch({ kind: kinds.secret, ...key }, { data: { 'ca.crt': null, 'ca.key': null } }),
    ];
    for (const harm of harms) {
      const before = await certificate();
      await harm();
      await eventually(async () => {
        const now = await certificate().catch(() => '');
        assert.ok(now !== '' && now !== before);
      });
      // What is stored is served by both, each when it is safe.
      await sleep(1_000);
    }
    loading.abort();
    await load;
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(admitted >= 100, `${admitted} admissions`);
    assert.ok(((await operators[0]?.metric('rossoctl_webhook_certificate_expiry_seconds')) ?? 0) > 86_400);
  });

  test('AD-05 the configuration emptied, misdirected or absent: said in readiness output, metric and log; ours is restored', async () => {
    const { client } = bed;
    const [operator] = operators;
    assert.ok(operator !== undefined);
    const ref = { kind: kinds.mutatingWebhookConfiguration, name: webhookConfigurations.injector };
    const fault = async (): Promise<string> => {
      const readiness = await operator.readiness();
      assert.equal(readiness?.ok, true, 'a fault of the configuration never takes a replica out');
      return readiness.degraded.find(({ name }) => name === 'webhook-configuration')?.reason ?? '';
    };
    const gauge = () =>
      operator.metric(`rossoctl_webhook_configuration_fault{kind="MutatingWebhookConfiguration",name="${ref.name}"}`);
    const bundle = async (): Promise<string> =>
      (await client.get(ref.kind, ref)).webhooks?.[0]?.clientConfig.caBundle ?? '';

    const good = await bundle();
    assert.match(Buffer.from(good, 'base64').toString(), /BEGIN CERTIFICATE/);
    await client.jsonPatch(ref, [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: '' }]);
    await eventually(async () => assert.equal(await bundle(), good));
    await eventually(async () => assert.equal(await fault(), ''));
    // The API server has its own look at the configuration, a moment later.
    await eventually(() => dryRun());

    const path = '/webhooks/0/clientConfig/service/name';
    await client.jsonPatch(ref, [{ op: 'replace', path, value: 'prefix-rossoctl-webhook' }]);
    await eventually(async () =>
      assert.match(await fault(), /calls Service rossoctl-system\/prefix-rossoctl-webhook instead of/),
    );
    assert.equal(await gauge(), 1);
    await client.jsonPatch(ref, [{ op: 'replace', path, value: install.webhookService }]);
    await eventually(async () => assert.equal(await fault(), ''));

    await client.remove(ref);
    await eventually(async () =>
      assert.match(await fault(), /MutatingWebhookConfiguration rossoctl-injector does not exist/),
    );
    assert.equal(await gauge(), 1);
    assert.ok(
      operator.lines.some(({ level, msg }) => level === 'error' && msg === 'webhook configuration is at fault'),
    );
    const late = await bed.startReady('late');
    assert.equal(
      (await late.readiness())?.degraded[0]?.name,
      'webhook-configuration',
      'ready before the installer has got so far',
    );
    await applyAll(
      client,
      bed.objects.filter(({ kind }) => kind === 'MutatingWebhookConfiguration'),
    );
    await eventually(async () => assert.equal(await fault(), ''));
    assert.equal(await gauge(), 0);
    await eventually(() => dryRun());
  });
});
