/** The injection webhook called by a real API server: patched, reinvoked, refused, and what reaches it. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import type { CreateOptions } from '../../runtime/engine/client.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { containerOf, p0, r0, typeLabel } from '../runtime/authbridge/fixtures.ts';
import { program } from '../runtime/cli/run-cli.ts';
import { startInjectionBed } from './injection-bed.ts';

const dryRun: CreateOptions = { dryRun: true, retries: 0 };

describe('the injection webhook on a real API server', { timeout: 600_000 }, () => {
  let bed: Awaited<ReturnType<typeof startInjectionBed>>;
  before(async () => {
    bed = await startInjectionBed('injection-webhook');
  });
  after(async () => {
    await bed?.stop();
  });

  /** A pod of a Deployment, through a ReplicaSet whose name does not tell the Deployment's. */
  async function podOf(deployment: string): Promise<Pod> {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: deployment,
      uid: `uid-${deployment}`,
      controller: true,
    };
    const selector = { matchLabels: { app: deployment } };
    const template = { metadata: { labels: { app: deployment } }, spec: { containers: [{ name: 'a', image: 'x' }] } };
    const replicaSet = await bed.client.create<KubeObject>(kinds.replicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: 'team1', name: `${deployment}-rs`, labels: typeLabel, ownerReferences: [owner] },
      spec: { replicas: 0, selector, template },
    } as KubeObject);
    const { name = '', uid = '' } = replicaSet.metadata;
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true };
    const { metadata, ...rest } = p0();
    return { ...rest, metadata: { ...metadata, namespace: 'team1', ownerReferences: [reference] } };
  }

  function runtimeOf(deployment: string) {
    const { metadata, spec } = r0({ targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: deployment } });
    const { uid: _, creationTimestamp: __, ...named } = { ...metadata, name: deployment };
    return { apiVersion: 'agent.rossoctl.dev/v1alpha1', kind: 'AgentRuntime', metadata: named, spec };
  }

  test('PM-03 PM-16 a new pod is patched, and the reinvocation after another webhook changes nothing', async () => {
    await bed.client.create(kinds.agentRuntime, runtimeOf('weather'));
    const pod = await podOf('weather');
    const before = bed.asked.length;
    const created = await bed.client.create(kinds.pod, pod);
    assert.deepEqual(
      created.spec.initContainers?.map(({ name }) => name),
      ['proxy-init', 'envoy-proxy'],
    );
    assert.equal(created.spec.containers.length, 1);
    assert.deepEqual(containerOf(created, 'envoy-proxy').resources?.limits, { cpu: '700m' });
    assert.equal(created.metadata.annotations?.['example.test/meddled'], 'yes');
    const verdicts = bed.asked.slice(before).map(({ verdict }) => verdict.reason);
    assert.deepEqual(verdicts, ['Injected', 'AlreadyInjected']);
  });

  test('PM-08 a dry run is answered in the same way', async () => {
    const pod = await podOf('dry');
    await bed.client.create(kinds.agentRuntime, runtimeOf('dry'));
    const created = await bed.client.create(kinds.pod, pod, dryRun);
    assert.equal(created.spec.initContainers?.length, 2);
    assert.equal(bed.asked.at(-1)?.request.dryRun, true);
  });

  test('an AgentRuntime made a moment ago is found although no cache has it yet', async () => {
    for (const at of [1, 2, 3, 4, 5]) {
      const pod = await podOf(`fresh-${at}`);
      await bed.client.create(kinds.agentRuntime, runtimeOf(`fresh-${at}`));
      assert.equal((await bed.client.create(kinds.pod, pod, dryRun)).spec.initContainers?.length, 2);
    }
  });

  test('PM-16 without an AgentRuntime the pod is admitted as it is', async () => {
    const created = await bed.client.create(kinds.pod, await podOf('nobody'), dryRun);
    assert.equal(created.spec.initContainers, undefined);
    assert.equal(bed.asked.at(-1)?.verdict.reason, 'NoAgentRuntime');
  });

  test('a pod that cannot be injected is refused with the sentence that says what to do', async () => {
    const pod = await podOf('host');
    await bed.client.create(kinds.agentRuntime, runtimeOf('host'));
    const host = { ...pod, spec: { ...pod.spec, hostNetwork: true } };
    await assert.rejects(bed.client.create(kinds.pod, host, dryRun), /inject\.rossoctl\.io.*proxy-sidecar/);
  });

  test('PM-01 AD-01 opted-out and unlabelled pods never reach us', async () => {
    const pod = await podOf('absent');
    const before = bed.asked.length;
    const { labels, ...metadata } = pod.metadata;
    await bed.client.create(kinds.pod, { ...pod, metadata }, dryRun);
    await bed.client.create(
      kinds.pod,
      { ...pod, metadata: { ...metadata, labels: { ...labels, 'rossoctl.io/inject': 'disabled' } } },
      dryRun,
    );
    assert.equal(bed.asked.length, before);
  });

  test('rossoctl status reads the cluster as a user does', async () => {
    const { code, out, err } = await program(['status', '-n', 'team1', '--kubeconfig', bed.kubeconfigPath]);
    assert.equal(code, 0, err);
    assert.match(out, /team1 +weather +agent +Deployment\/weather .* 0 +1 +0\n/);
    assert.match(out, /the operator has not looked at it yet/);
  });

  test('decision 0006 a layer that turns bad keeps its last good value; the ConfigMap is named when there was none', async () => {
    const platform = (text: string) => ({
      kind: kinds.configMap,
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'rossoctl-system', name: 'rossoctl-platform-config' },
        data: { 'config.yaml': text },
      },
    });
    const pod = await podOf('layered');
    await bed.client.create(kinds.agentRuntime, runtimeOf('layered'));
    const image = async () => containerOf(await bed.client.create(kinds.pod, pod, dryRun), 'envoy-proxy').image;
    await bed.client.apply(platform('images: {envoyProxy: "example.test/envoy:2"}\n'), { fieldManager: 'test' });
    for (let tries = 0; (await image()) !== 'example.test/envoy:2'; tries += 1) {
      assert.ok(tries < 50, 'the change is not seen');
      await sleep(50);
    }
    await bed.client.apply(platform('imagse: {}\n'), { fieldManager: 'test' });
    await sleep(500);
    assert.equal(await image(), 'example.test/envoy:2');
    const defaults = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'team1', name: 'defaults', labels: { 'rossoctl.io/defaults': 'true' } },
      data: { 'config.yaml': 'trce: {}\n' },
    };
    await bed.client.create(kinds.configMap, defaults);
    await sleep(500);
    await assert.rejects(image(), /ConfigMap team1\/defaults, key config.yaml: line 1: trce/);
  });
});
