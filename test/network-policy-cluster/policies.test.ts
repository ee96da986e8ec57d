/** Policies on a real API server: they open and close with verdicts, and select what the workload selects. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, labels, operatorPodLabels } from '../../runtime/api/names.ts';
import { createVerdicts } from '../../runtime/workload/verdicts.ts';
import { workload } from '../support/workload-objects.ts';
import { eventually } from '../support/engine-bed.ts';
import { assertQuiet, inNamespace, type Operator, type PolicyBed, startPolicyBed } from './bed.ts';

let bed: PolicyBed;
let operator: Operator;
before(async () => {
  bed = await startPolicyBed('network-policy');
  operator = await bed.startOperator();
});
after(() => bed.stop());

describe('verdicts', () => {
  test('closed from the beginning, open while verified, closed again; nothing is written in between', async () => {
    const ns = await inNamespace(bed, 'verdicts');
    await ns.agent();
    const first = await ns.becomes('restrictive');
    assert.deepEqual(first.spec?.podSelector, { matchLabels: { app: 'weather' } });
    assert.equal(first.metadata.labels?.[labels.agentCard], 'weather');
    await ns.says('Restrictive');
    await assertQuiet(operator, ns.namespace, 'weather');
    await ns.judge('True');
    const open = await ns.becomes('permissive');
    assert.equal(open.metadata.uid, first.metadata.uid);
    await ns.says('Permissive');
    await assertQuiet(operator, ns.namespace, 'weather');
    // As the card controller writes: its status leaves our condition alone, and its news is none of ours.
    await ns.judge('True', { lastSyncTime: '2026-01-01T00:00:00Z', cardHash: 'f'.repeat(64) });
    await assertQuiet(operator, ns.namespace, 'weather');
    assert.equal(await ns.reasonOf('weather'), 'Permissive');
    await ns.judge('False');
    const closed = await ns.becomes('restrictive');
    assert.equal(closed.metadata.annotations?.[annotations.verdictFor], 'none');
    await ns.says('Restrictive');
    await operator.settled();
    assert.deepEqual((await ns.events()).toSorted(), ['NetworkClosed', 'NetworkOpened']);
  });

  test('a status that no verdict of this process stands behind opens nothing, and closes nothing that is open', async () => {
    const ns = await inNamespace(bed, 'unvouched');
    await ns.agent();
    await ns.judge('True');
    const open = await ns.becomes('permissive');
    await operator.stop();
    await ns.create(workload('Deployment', ns.namespace, 'storm'));
    await ns.card('storm');
    await ns.judge('True', { certificateExpires: '2037-01-01T00:00:00Z' }, 'storm');
    operator = await bed.startOperator({ verdicts: createVerdicts() });
    await ns.says('Restrictive', 'storm');
    await ns.judge('True', { lastSyncTime: '2026-01-01T00:00:00Z' }, 'storm');
    await assertQuiet(operator, ns.namespace, 'weather', 'storm');
    await ns.becomes('restrictive', 'storm-signature-policy');
    assert.equal((await ns.policyOf())?.metadata.resourceVersion, open.metadata.resourceVersion);
    await operator.settled();
    assert.deepEqual(await ns.events(), ['NetworkOpened']);
    await operator.stop();
    operator = await bed.startOperator();
    await ns.becomes('permissive', 'storm-signature-policy');
  });

  test('SG-13: the policy closes when the certificate ends, though nobody touches the card', async () => {
    const ns = await inNamespace(bed, 'expiry');
    await ns.agent();
    await ns.judge('True', { certificateExpires: new Date(Date.now() + 4_000).toISOString() });
    await ns.becomes('permissive');
    const { metadata } = await ns.cardOf();
    await ns.becomes('restrictive');
    await ns.says('Restrictive');
    assert.equal((await ns.cardOf()).metadata.generation, metadata.generation);
    await ns.judge('True', { certificateExpires: new Date(Date.now() + 3_600_000).toISOString() });
    await ns.becomes('permissive');
  });

  test('an edit of the sync period leaves it open; another target or binding closes it until the next verdict', async () => {
    const ns = await inNamespace(bed, 'edits');
    await ns.agent();
    await ns.judge('True');
    const open = await ns.becomes('permissive');
    const edit = (spec: object) =>
      ns.client.mergePatch({ kind: kinds.agentCard, namespace: ns.namespace, name: 'weather' }, { spec });
    await edit({ syncPeriod: '5m' });
    await eventually(async () => {
      const { status } = await ns.cardOf();
      const own = status?.conditions?.find(({ type }) => type === 'NetworkPolicyReady');
      assert.equal(own?.observedGeneration, 2);
    });
    await assertQuiet(operator, ns.namespace, 'weather');
    assert.equal((await ns.policyOf())?.metadata.resourceVersion, open.metadata.resourceVersion);
    await edit({ identityBinding: { trustDomain: 'other.example' } });
    await ns.becomes('restrictive');
    await ns.judge('True');
    await ns.becomes('permissive');
    await ns.create(workload('Deployment', ns.namespace, 'storm'));
    await edit({ targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'storm' } });
    await ns.becomes('restrictive', 'storm-signature-policy');
    await ns.becomes('absent');
  });
});

describe('the workload', () => {
  test('every form of selector is accepted and selects what the workload selects', async () => {
    const ns = await inNamespace(bed, 'selectors');
    const selectors = [
      { matchLabels: { app: 'a', 'app.kubernetes.io/part-of': 'x' } },
      { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
      {
        matchExpressions: [
          { key: 'app', operator: 'Exists' },
          { key: 'debug', operator: 'DoesNotExist' },
        ],
      },
      { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['b'] }] },
    ];
    for (const [i, selector] of selectors.entries()) {
      const name = `form-${i}`;
      const body = workload('Deployment', ns.namespace, name);
      const template = {
        metadata: { labels: { app: 'a', 'app.kubernetes.io/part-of': 'x' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      };
      await ns.create({ ...body, spec: { replicas: 0, selector, template } });
      await ns.card(name);
      const policy = await ns.becomes('restrictive', `${name}-signature-policy`);
      assert.deepEqual(policy.spec?.podSelector, selector);
    }
    await assertQuiet(operator, ns.namespace, ...selectors.map((_, i) => `form-${i}`));
  });

  test('a card before its workload waits for it; a workload that goes leaves its policy, which goes on following the verdict', async () => {
    const ns = await inNamespace(bed, 'order');
    await ns.card();
    await ns.says('TargetNotFound');
    await ns.create(workload('Deployment', ns.namespace, 'weather'));
    await ns.becomes('restrictive');
    await ns.judge('True');
    await ns.becomes('permissive');
    await ns.remove('deployment', 'weather');
    await ns.judge('False');
    await ns.becomes('restrictive');
    const body = workload('Deployment', ns.namespace, 'weather');
    const selector = { matchLabels: { app: 'weather', generation: 'second' } };
    const template = { metadata: { labels: selector.matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await ns.create({ ...body, spec: { replicas: 0, selector, template } });
    await eventually(async () => assert.deepEqual((await ns.policyOf())?.spec?.podSelector, selector));
  });

  test('pods on the host’s network are beyond any policy: it is written, and said not to hold until they leave', async () => {
    const ns = await inNamespace(bed, 'host-network');
    const deployment = workload('Deployment', ns.namespace, 'weather');
    const labelled = { app: 'weather' };
    const template = (hostNetwork: boolean) => ({
      metadata: { labels: labelled },
      spec: { hostNetwork, containers: [{ name: 'c', image: 'i' }] },
    });
    await ns.create({
      ...deployment,
      spec: { replicas: 0, selector: { matchLabels: labelled }, template: template(true) },
    });
    await ns.card();
    await ns.says('HostNetwork');
    await ns.judge('True');
    await ns.becomes('permissive');
    await assertQuiet(operator, ns.namespace, 'weather');
    assert.equal(await ns.reasonOf('weather'), 'HostNetwork');
    await bed.client.mergePatch(
      { kind: kinds.deployment, namespace: ns.namespace, name: 'weather' },
      { spec: { template: template(false) } },
    );
    await ns.says('Permissive');
  });

  test('a CronJob selects nothing, and the operator’s own pods are cut off by nothing', async () => {
    const ns = await inNamespace(bed, 'refusals');
    await ns.create(workload('CronJob', ns.namespace, 'nightly'));
    await ns.card('nightly', { kind: 'CronJob' });
    await ns.says('NoPodSelector', 'nightly');
    assert.deepEqual(await ns.policies(), []);
    const template = { metadata: { labels: operatorPodLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 0, selector: { matchLabels: operatorPodLabels }, template };
    const own = { namespace: 'rossoctl-system', name: 'rossoctl-operator' };
    await ns.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: own, spec });
    await bed.client.create(kinds.agentCard, {
      apiVersion: 'agent.rossoctl.dev/v1alpha1',
      kind: 'AgentCard',
      metadata: own,
      spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: own.name } },
    });
    await eventually(async () => {
      const { status } = await bed.client.get(kinds.agentCard, own);
      assert.equal(status?.conditions?.[0]?.reason, 'SelectsOperator');
    });
    assert.deepEqual((await bed.client.list(kinds.networkPolicy, { namespace: own.namespace })).items, []);
  });
});
