/** What docs/migration.md promises: a cluster of the Go operator is taken over without losing an enrolment, one step after the other. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, apiVersion, labels, policies } from '../../runtime/api/names.ts';
import { ApiError } from '../../runtime/engine/errors.ts';
import type { Fragment, KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, untilDeleted, untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import { createNamespace, platformConfig, runtimeFor, workload } from '../support/workload-objects.ts';
import {
  authBridgeConfig,
  card,
  formerCards,
  formerHash,
  formerPolicy,
  formerRuntimes,
  namespace,
  runtimes,
  signed,
  weather,
} from './former-install.ts';

describe('from the Go operator', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  let uids: readonly (string | undefined)[];
  before(async () => {
    bed = await startOperatorBed('migration', {
      platform: { config: { rollout: { paused: true } } },
      without: [
        'CustomResourceDefinition',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
        'MutatingWebhookConfiguration',
        'ValidatingWebhookConfiguration',
      ],
    });
    const { client } = bed;
    await createNamespace(client, namespace);
    // By another field manager than ours, as Helm would have made them.
    for (const object of [formerRuntimes, formerCards, authBridgeConfig, formerPolicy])
      await client.create(kindOf(object), object);
    for (const object of [weather, signed, ...runtimes, card])
      await eventually(() => client.create(kindOf(object), object));
    // A workload amid a rollout of its own counts as begun, and would not be held.
    for (const name of ['weather', 'signed']) await running(name);
    uids = await uidsOf();
  });
  after(() => bed.stop());

  /** The kubelet's part: the pod of a Deployment is ready, and the rollout over. */
  async function running(name: string): Promise<void> {
    await eventually(async () => {
      const [pod] = (await bed.client.list(kinds.pod, { namespace, labels: `app=${name}` })).items;
      assert.ok(pod);
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const body = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: pod.metadata.name },
        status: { phase: 'Running', conditions },
      };
      await bed.client.apply({ kind: kinds.pod, body } as Fragment, { fieldManager: 'kubelet', subresource: 'status' });
      const { status } = (await deploymentOf(name)) as unknown as { status?: { availableReplicas?: number } };
      assert.equal(status?.availableReplicas, 1);
    });
  }

  const runtimeOf = (name: string) => bed.client.get(kinds.agentRuntime, { namespace, name });
  const deploymentOf = (name: string) => bed.client.get(kinds.deployment, { namespace, name });
  const uidsOf = async () =>
    (await Promise.all(['weather', 'signed'].map(runtimeOf))).map(({ metadata }) => metadata.uid);
  const templateOf = async (name: string) =>
    ((await deploymentOf(name)) as unknown as { spec: { template: { metadata: KubeObject['metadata'] } } }).spec
      .template.metadata;
  const patch = (name: string, body: Readonly<Record<string, unknown>>) =>
    bed.client.mergePatch({ kind: kinds.deployment, namespace, name }, body);

  test('a policy of the same name keeps its own match conditions under ours, so it has to go first', async () => {
    const ours = bed.objects.filter(
      ({ kind, metadata }) => kind === formerPolicy.kind && metadata.name === policies.labelProtection,
    );
    await applyAll(bed.client, ours);
    const key = { kind: kindOf(formerPolicy), name: policies.labelProtection };
    const merged = (await bed.client.get(key.kind, key)) as unknown as {
      spec: { matchConditions: { name: string }[] };
    };
    assert.ok(merged.spec.matchConditions.some(({ name }) => name === 'former'));
    await bed.client.remove(key);
  });

  test('resources stay what they are under our definitions; what ours do not have is gone, what was defaulted is said', async () => {
    const stored = (await runtimeOf('weather')).spec as unknown as Readonly<Record<string, unknown>>;
    assert.deepEqual([stored['mtlsMode'], stored['tlsBridgeMode']], ['permissive', 'disabled']);
    await bed.installRest();
    await eventually(async () => {
      const { tlsBridgeMode, egressEnforcement, mtlsMode } = (await runtimeOf('weather')).spec as unknown as Readonly<
        Record<string, unknown>
      >;
      assert.deepEqual([tlsBridgeMode, egressEnforcement, mtlsMode], [undefined, undefined, 'permissive']);
    });
    assert.deepEqual(await uidsOf(), uids);
  });

  test('a mode, and as kubectl asks a field, that ours does not have is refused when it is written', async () => {
    const lite = runtimeFor(workload('Deployment', namespace, 'other'), { authBridgeMode: 'lite' } as object);
    await assert.rejects(bed.client.create(kinds.agentRuntime, lite), (error: unknown) => {
      assert.ok(error instanceof ApiError && error.status === 422);
      assert.match(error.message, /spec\.authBridgeMode: Unsupported value: "lite"/);
      return true;
    });
    const theirs = runtimeFor(workload('Deployment', namespace, 'other'), { tlsBridgeMode: 'disabled' } as object);
    const path = `/apis/${apiVersion}/namespaces/${namespace}/agentruntimes?dryRun=All&fieldValidation=Strict`;
    await assert.rejects(
      bed.transport.request({ method: 'POST', path, body: theirs }),
      /strict decoding error: unknown field "spec\.tlsBridgeMode"/,
    );
  });

  test('a ConfigMap that the Go operator labelled as defaults is refused by name, and nothing changes until the label is gone', async () => {
    await bed.startReady('operator');
    const told = await untilSays(bed.client, runtimes[0] as KubeObject, 'Error/ConfigInvalid');
    assert.match(
      told.status?.message ?? '',
      /authbridge-config, key config\.yaml: the ConfigMap has no key config\.yaml/,
    );
    assert.equal(carriedBy(await deploymentOf('weather')).hash, formerHash);
    const unlabelled = { metadata: { labels: { [labels.defaults]: null } } };
    await bed.client.mergePatch({ kind: kinds.configMap, namespace, name: 'authbridge-config' }, unlabelled);
  });

  test('paused, enrolments stand as they were', async () => {
    for (const runtime of runtimes) await untilSays(bed.client, runtime, 'Pending/RolloutPending');
    for (const name of ['weather', 'signed']) assert.equal(carriedBy(await deploymentOf(name)).hash, formerHash);
  });

  test('the verified label on a template makes new pods impossible; taken away together with the hash, the operator adds its own at once', async () => {
    await assert.rejects(
      bed.client.create(kinds.pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: 'x', labels: { [labels.signatureVerified]: 'true' } },
        spec: { containers: [{ name: 'x', image: 'example.test/x:1' }] },
      }),
      /may not be set by hand/,
    );
    await patch('signed', {
      spec: {
        template: {
          metadata: { labels: { [labels.signatureVerified]: null }, annotations: { [annotations.configHash]: null } },
        },
      },
    });
    await eventually(async () => {
      const { hash, templateLabel } = carriedBy(await deploymentOf('signed'));
      assert.equal(templateLabel, 'agent');
      assert.match(hash ?? '', /^[0-9a-f]{64}$/);
      assert.notEqual(hash, formerHash);
    });
    assert.equal((await templateOf('signed')).labels?.[labels.signatureVerified], undefined);
  });

  test('let go, every workload is rolled out once and is Active, the same resources as before', async () => {
    await applyAll(bed.client, [platformConfig('rollout:\n  paused: false\n')]);
    await untilSays(bed.client, runtimes[1] as KubeObject, 'Active/Configured');
    await eventually(async () => {
      const { hash } = carriedBy(await deploymentOf('weather'));
      assert.notEqual(hash, formerHash);
    });
    assert.deepEqual(await uidsOf(), uids);
  });

  test('a card of the Go operator hangs on its finalizers until they are taken off; its AgentRuntime goes as ever', async () => {
    const { client } = bed;
    const key = { namespace, name: 'weather-deployment-card' };
    const before = await client.get(kinds.agentCard, key);
    assert.equal(before.spec.identityBinding?.strict, false, 'as their schema defaulted it');
    await client.remove({ kind: kinds.agentCard, ...key });
    assert.ok((await client.get(kinds.agentCard, key)).metadata.deletionTimestamp);
    await client.mergePatch({ kind: kinds.agentCard, ...key }, { metadata: { finalizers: null } });
    await eventually(async () => {
      const now = await client.get(kinds.agentCard, key);
      assert.notEqual(now.metadata.uid, before.metadata.uid, 'generated anew');
      assert.equal(now.spec.identityBinding, undefined);
    });
    await untilDeleted(client, runtimes[0] as KubeObject);
    const { label, templateLabel, hash } = carriedBy(await deploymentOf('weather'));
    assert.deepEqual([label, templateLabel, hash], [undefined, undefined, undefined]);
  });
});
