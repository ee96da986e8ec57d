/** Pods that outlive an agent's Deployment, with the whole operator: closed while policies are enforced, and in nobody's way when they no longer are. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { labels } from '../../runtime/api/names.ts';
import type { NetworkPolicy } from '../../runtime/api/kubernetes.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import { eventually } from '../support/engine-bed.ts';
import { type OperatorBed, startOperatorBed } from '../support/operator-bed.ts';
import { createNamespace, runtimeFor, workload, workloadKinds } from '../support/workload-objects.ts';
import { verifying, verifyingFlags } from './card-life.ts';

let bed: OperatorBed;
before(async () => {
  bed = await startOperatorBed('outliving', { platform: verifying });
});
after(() => bed.stop());

const collectedMs = 90_000;
const card = 'weather-deployment-card';

/** An agent with one pod that nothing but its finalizer keeps, and the policy of its generated card. */
async function agent(namespace: string): Promise<void> {
  await createNamespace(bed.client, namespace);
  const object = workload('Deployment', namespace, 'weather', { replicas: 1 });
  const { template, ...spec } = (object as unknown as { readonly spec: { readonly template: { metadata: object } } })
    .spec;
  const held = { ...template, metadata: { ...template.metadata, finalizers: ['example.test/grace'] } };
  await bed.client.create(workloadKinds.Deployment, {
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [`${labels.protocolPrefix}a2a`]: '' } },
    spec: { ...spec, template: held },
  } as typeof object);
  await bed.client.create(kinds.agentRuntime, runtimeFor(object));
  await eventually(async () => {
    const { status } = await bed.client.get(kinds.agentCard, { namespace, name: card });
    const said = status?.conditions?.find(({ type }) => type === 'NetworkPolicyReady')?.reason;
    assert.equal(said, 'Restrictive');
    const { items } = await bed.client.list(kinds.pod, { namespace, labels: 'app=weather' });
    assert.notEqual(items.length, 0);
  });
}

async function deleteDeployment(namespace: string): Promise<readonly NetworkPolicy[]> {
  await bed.client.remove({ kind: kinds.deployment, namespace, name: 'weather' });
  await eventually(async () => {
    const isGone = await bed.client.get(kinds.agentCard, { namespace, name: card }).then(() => false, isNotFound);
    assert.equal(isGone, true);
    const { items } = await bed.client.list(kinds.networkPolicy, { namespace });
    assert.ok(!items.some(({ metadata }) => metadata.name === 'weather-signature-policy'));
  }, collectedMs);
  return (await bed.client.list(kinds.networkPolicy, { namespace })).items;
}

test('NP-02: they are closed while policies are enforced; a card of an operator that enforces them no more is let go all the same', async () => {
  const operator = await bed.startReady('operator', { flags: verifyingFlags });
  await agent('team1');
  await agent('team2');
  const [policy, ...more] = await deleteDeployment('team1');
  assert.deepEqual(more, []);
  assert.deepEqual(policy?.spec?.podSelector, { matchLabels: { app: 'weather' } });
  const owners = policy.metadata.ownerReferences ?? [];
  assert.deepEqual([...new Set(owners.map(({ kind }) => kind))], ['Pod']);
  await operator.stop();
  await bed.startReady('without', { flags: { ...verifyingFlags, 'enforce-network-policies': 'false' } });
  assert.deepEqual(await deleteDeployment('team2'), []);
});
