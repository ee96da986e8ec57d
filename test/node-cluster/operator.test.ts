/** The operator as it is installed: its image, two replicas, the synthesized manifests and nothing else, on a real node. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, install, labels, webhookConfigurations } from '../../runtime/api/names.ts';
import { release } from '../../runtime/api/release.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import type { WorkloadKind } from '../../runtime/workload/kinds.ts';
import { canRunNode } from '../lab/up.ts';
import { runCronJob } from '../support/cron-run.ts';
import { eventually, patienceMs } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import {
  createNamespace,
  runtimeFor,
  workload,
  type WorkloadOptions,
  type Written,
} from '../support/workload-objects.ts';
import { agentImage, isReady, type NodeBed, pod, startNodeBed } from './node-bed.ts';
import { uninstalled } from './uninstalling.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const running: WorkloadOptions = {
  replicas: 1,
  image: agentImage,
  pod: {
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  },
};

describe('the operator on a node', { skip, timeout: 600_000 }, () => {
  let bed: NodeBed;
  before(async () => {
    bed = await startNodeBed();
    await bed.untilOperatorRuns(2);
  });
  after(() => bed.stop());

  /** A workload whose containers listen on the port that the stand-in image asks for. */
  function served(kind: WorkloadKind, namespace: string, name: string): Written {
    const text = JSON.stringify(workload(kind, namespace, name, running));
    const security =
      '"imagePullPolicy":"Never","env":[{"name":"PORT","value":"8080"}],"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}},';
    return JSON.parse(text.replace('"ports":', `${security}"ports":`)) as Written;
  }

  async function enrolled(object: Written, spec = {}) {
    await bed.client.create(kindOf(object), object);
    const runtime = runtimeFor(object, spec);
    await applyAll(bed.client, [runtime]);
    return runtime;
  }

  async function untilInjected(namespace: string, app: string, withinMs = patienceMs): Promise<void> {
    await eventually(async () => {
      const pods = await bed.podsOf(namespace, app);
      const state = pods.map(
        (one) => `${one.metadata.name} ${one.metadata.annotations?.[annotations.injected] ?? 'bare'} ${isReady(one)}`,
      );
      assert.ok(
        pods.length === 1 &&
          pods.every((one) => one.metadata.annotations?.[annotations.injected] !== undefined && isReady(one)),
        state.join('; '),
      );
    }, withinMs);
  }

  test('two replicas run from the image, neither restarted; every kind is enrolled and its pods run injected', async () => {
    const pods = await bed.operatorPods();
    assert.equal(pods.length, 2);
    const ns = await createNamespace(bed.client, 'every-kind');
    const kindsRun = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'] as const;
    for (const kind of kindsRun) await enrolled(served(kind, ns, kind.toLowerCase()));
    const cron = await enrolled(served('CronJob', ns, 'cronjob'));
    await untilSays(bed.client, cron, 'Active/Configured');
    await runCronJob(bed, ns, 'cronjob');
    await untilSays(bed.client, runtimeFor(served('Job', ns, 'job')), 'Active/Configured');
    await bed.client.mergePatch({ kind: kinds.job, namespace: ns, name: 'job' }, { spec: { suspend: false } });
    for (const kind of [...kindsRun, 'CronJob']) await untilInjected(ns, kind.toLowerCase(), 100_000);
    const restarts = (await bed.operatorPods()).flatMap(
      ({ status }) =>
        (status as { readonly containerStatuses?: readonly { readonly restartCount: number }[] }).containerStatuses ??
        [],
    );
    assert.deepEqual(
      restarts.map(({ restartCount }) => restartCount),
      [0, 0],
    );
    await bed.client.remove({ kind: kinds.namespace, name: ns });
  });

  test('Pod Security restricted: proxy-sidecar pods are accepted and run; envoy-sidecar is denied in our words and the status says which mode avoids it', async () => {
    const ns = await createNamespace(bed.client, 'restricted', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    await enrolled(served('Deployment', ns, 'open'), { authBridgeMode: 'proxy-sidecar' });
    await untilInjected(ns, 'open');
    const runtime = await enrolled(served('Deployment', ns, 'closed'));
    const { status } = await untilSays(bed.client, runtime, 'Error/PodSecurityConflict');
    assert.match(status?.message ?? '', /authBridgeMode: proxy-sidecar/);
    const [mine] = await bed.podsOf(ns, 'closed');
    assert.ok(mine !== undefined, 'its owner’s pod runs as before');
    const by = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: ns, generateName: 'closed-', labels: { [labels.type]: 'agent' } },
      spec: { ...mine.spec, nodeName: undefined },
    };
    await assert.rejects(bed.client.create(kinds.pod, by), /restricted.*proxy-init.*proxy-sidecar/s);
    await bed.client.remove({ kind: kinds.namespace, name: ns });
  });

  test('AD-03 with the webhook configuration gone pods start bare; when it is back they are reported by name', async () => {
    const ns = await enrolledIn('bare');
    await bed.client.remove({ kind: kinds.mutatingWebhookConfiguration, name: webhookConfigurations.injector });
    const renew = async (): Promise<string> => {
      const [old] = await bed.podsOf(ns, 'weather');
      await bed.client.remove({ kind: kinds.pod, namespace: ns, name: old?.metadata.name ?? '' });
      let name = '';
      await eventually(async () => {
        const [young] = await bed.podsOf(ns, 'weather');
        assert.ok(young !== undefined && young.metadata.uid !== old?.metadata.uid);
        name = young.metadata.name ?? '';
      });
      return name;
    };
    await eventually(async () => assert.equal(await isAsked(bed, ns), false));
    const bare = await renew();
    await applyAll(
      bed.client,
      bed.objects.filter(({ kind }) => kind === 'MutatingWebhookConfiguration'),
    );
    await eventually(async () => {
      const { status } = await bed.client.get(kinds.agentRuntime, { namespace: ns, name: 'weather' });
      const found = status?.conditions?.find(({ type }) => type === 'PodsInjected');
      assert.equal(found?.reason, 'PodsWithoutSidecars', JSON.stringify(status));
      assert.ok(found.message.includes(bare), found.message);
    });
    await eventually(async () => assert.equal(await isAsked(bed, ns), true));
    await renew();
    await untilInjected(ns, 'weather');
  });

  test('AD-01 the operator gone: system and unlabelled pods start, labelled ones are refused, and it comes up and takes them again', async () => {
    const ns = await createNamespace(bed.client, 'outage');
    const labelled = pod(ns, 'labelled', { [labels.type]: 'agent' });
    await bed.untilOperatorIsGone();
    await bed.client.create<KubeObject>(kinds.pod as Kind, pod('kube-system', 'system'));
    await bed.client.create<KubeObject>(kinds.pod as Kind, pod(ns, 'unlabelled'));
    await assert.rejects(
      bed.client.create<KubeObject>(kinds.pod as Kind, labelled),
      /failed calling webhook "inject\.rossoctl\.io"/,
    );
    await bed.scaleOperator(1);
    await bed.untilOperatorRuns(1);
    await eventually(() => bed.client.create<KubeObject>(kinds.pod as Kind, labelled));
    await eventually(async () => {
      const pods = [
        ...(await bed.podsOf(ns)),
        ...(await bed.podsOf('kube-system')).filter(({ metadata }) => metadata.name === 'system'),
      ];
      assert.deepEqual(
        new Set(pods.filter(isReady).map(({ metadata }) => metadata.name)),
        new Set(['labelled', 'system', 'unlabelled']),
      );
    });
    await bed.scaleOperator(2);
    await bed.untilOperatorRuns(2);
  });

  test('UP-03 the manifests of the next release, under a load of admissions: none fails, and no workload changes or restarts', async () => {
    const ns = await enrolledIn('load', 'steady');
    const before = await standing(ns);
    const next = nextRelease(bed.objects);
    const failures: string[] = [];
    let admitted = 0;
    const loading = new AbortController();
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        while (!loading.signal.aborted) {
          await bed.transport
            .request({
              method: 'POST',
              path: `/api/v1/namespaces/${ns}/pods`,
              query: { dryRun: 'All' },
              body: pod(ns, `load-${lane}`, { [labels.type]: 'agent' }),
              retries: 0,
            })
            .then(
              () => (admitted += 1),
              (error: unknown) => failures.push(String(error)),
            );
          await sleep(40);
        }
      }),
    );
    await applyAll(bed.client, next);
    await bed.untilOperatorRuns(2);
    // The last of the old ones ends after it is no longer counted.
    await eventually(
      async () => assert.equal((await bed.client.list(kinds.pod, { namespace: install.namespace })).items.length, 2),
      60_000,
    );
    loading.abort();
    await load;
    assert.deepEqual([...new Set(failures)], []);
    assert.ok(admitted > 100, `${admitted} admissions`);
    // What the new ones do once they lead is done to a workload that comes after the upgrade, too.
    await enrolled(served('Deployment', ns, 'later'));
    await untilInjected(ns, 'later');
    assert.deepEqual(await standing(ns), before);
  });

  // From here on nothing is left of the platform.
  test('UP-01 uninstalled after the operator has gone, whose webhooks refuse pods: workloads run on, pods start, namespaces end', async () => {
    const ns = await enrolledIn('orphaned');
    await bed.untilOperatorIsGone();
    await uninstalled(bed, ns);
  });

  test('UP-01 installed again, and uninstalled beside the operator that runs: workloads run on, pods start, namespaces end', async () => {
    await applyAll(bed.client, bed.objects);
    await bed.untilOperatorRuns(2);
    await uninstalled(bed, await enrolledIn('freed'));
  });

  /** A namespace with one workload, enrolled and injected. */
  async function enrolledIn(prefix: string, name = 'weather'): Promise<string> {
    const ns = await createNamespace(bed.client, prefix);
    await enrolled(served('Deployment', ns, name));
    await untilInjected(ns, name);
    return ns;
  }

  /** The workload `steady`, its AgentRuntime and its pods, as far as an upgrade may not touch them. */
  async function standing(namespace: string): Promise<unknown> {
    const key = { namespace, name: 'steady' };
    const { metadata, spec } = await bed.client.get(kinds.deployment, key);
    const runtime = await bed.client.get(kinds.agentRuntime, key);
    const pods = await bed.podsOf(namespace, 'steady');
    return {
      generation: metadata.generation,
      template: spec.template,
      uid: runtime.metadata.uid,
      hash: runtime.status?.configHash,
      pods: pods.map((one) => one.metadata.uid),
    };
  }
});

/** The manifests as the next release would make them: a field more in each definition, and another release on the operator's pods. */
function nextRelease(objects: readonly Written[]): readonly Written[] {
  const variable = '"name":"ROSSOCTL_MANIFESTS_RELEASE","value":';
  const field = '"observedGeneration":{"description":"Generation of the spec that this';
  return objects.map((object) => {
    const text = JSON.stringify(object);
    const next = text
      .replaceAll(`${variable}"${release}"`, `${variable}"99.0.0"`)
      .replaceAll(field, `"next":{"type":"string","maxLength":8},${field}`);
    const isChanged = ['CustomResourceDefinition', 'Deployment'].includes(object.kind);
    assert.equal(next !== text, isChanged, object.kind);
    return JSON.parse(next) as Written;
  });
}

/** Whether the API server asks the webhook at this moment: a pod of the Deployment `weather` as a dry run, injected or not. */
async function isAsked({ transport }: NodeBed, namespace: string): Promise<boolean> {
  const metadata = { namespace, generateName: 'weather-', labels: { [labels.type]: 'agent' } };
  const body = { ...pod(namespace, ''), metadata };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const made = (await transport.request({ method: 'POST', path, query: { dryRun: 'All' }, body })) as KubeObject;
  return made.metadata.annotations?.[annotations.injected] !== undefined;
}
