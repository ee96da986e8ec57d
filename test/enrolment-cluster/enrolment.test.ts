/** Enrolment and release on a real API server: every kind of target, what is written and how often, what is left as it was. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, configMaps, labels, managedBy } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { type EnrolmentBed, inNamespace, type Operator, startEnrolmentBed, startKubelet } from './bed.ts';
import { agentRuntime, deployment } from './objects.ts';

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('enrolment');
  operator = await bed.startOperator();
});
after(() => bed.stop());

/** Long enough for a write that should not be. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 300));

/** What only Kubernetes writes, and a revision that counts rollouts. */
function asOwned(object: KubeObject): unknown {
  const {
    resourceVersion: _,
    generation: __,
    managedFields: ___,
    annotations: marks = {},
    ...metadata
  } = object.metadata;
  const { 'deployment.kubernetes.io/revision': ____, ...others } = marks;
  return {
    metadata: { ...metadata, annotations: others },
    spec: (object as KubeObject & { readonly spec: unknown }).spec,
  };
}

test('an enrolment costs at most four requests: finalizer, labels, status, event', async () => {
  const ns = await inNamespace(bed, 'budget');
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const { metadata, spec } = await ns.deploymentOf();
  assert.equal(metadata.labels?.[labels.type], 'agent');
  assert.equal(metadata.labels?.[labels.managedBy], managedBy);
  assert.equal(spec.template.metadata?.labels?.[labels.type], 'agent');
  assert.match(spec.template.metadata?.annotations?.[annotations.configHash] ?? '', /^[0-9a-f]{64}$/);
  await eventually(() => operator.writes(ns.name).some(({ resource }) => resource === 'events'));
  await settled();
  const writes = operator
    .writes(ns.name)
    .map(({ verb, resource }) => `${verb} ${resource}`)
    .sort();
  assert.deepEqual(writes, [
    'create events',
    'patch agentruntimes',
    'patch agentruntimes/status',
    // Once a namespace, for the first AgentRuntime in it.
    'patch configmaps',
    'patch deployments',
  ]);
  const status = (await ns.runtimeOf()).status;
  assert.equal(status?.target?.uid, metadata.uid);
  assert.equal(status?.configHash, spec.template.metadata?.annotations?.[annotations.configHash]);
  await bed.client.create(kinds.deployment, deployment(ns.name, 'second'));
  await bed.client.create(
    kinds.agentRuntime,
    agentRuntime(ns.name, 'second', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'second' } }),
  );
  await ns.says('Active/Configured', 'second');
  await eventually(() => operator.writes(ns.name).length - writes.length >= 4);
  await settled();
  assert.equal(operator.writes(ns.name).length - writes.length, 4);
});

test('with pods that start, an enrolment costs one status write more, when their number is settled', async (t) => {
  const ns = await inNamespace(bed, 'counted');
  const kubelet = startKubelet(bed, ns.name, 300);
  t.after(kubelet.stop);
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 3 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await eventually(async () => (await ns.runtimeOf()).status?.configuredPods === 3);
  await operator.events.idle();
  const writes = operator.writes(ns.name).filter(({ resource }) => resource !== 'configmaps');
  assert.equal(writes.length, 5, JSON.stringify(writes));
});

test('RC-06 in a steady state ten forced passes write nothing', async (t) => {
  const ns = await inNamespace(bed, 'steady');
  const kubelet = startKubelet(bed, ns.name);
  t.after(kubelet.stop);
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  await eventually(async () => (await ns.runtimeOf()).status?.configuredPods === 1);
  await operator.events.idle();
  const quiet = operator.writes(ns.name).length;
  for (let pass = 0; pass < 10; pass += 1) {
    assert.ok(operator.wake({ namespace: ns.name, name: 'weather' }));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  assert.equal(operator.writes(ns.name).length, quiet);
});

test('RC-01 kubectl rollout restart survives, and causes no further write to the workload', async () => {
  const ns = await inNamespace(bed, 'restart');
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const count = () => operator.writes(ns.name).filter(({ resource }) => resource === 'deployments').length;
  const target = { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' };
  const restartedAt = '2026-01-01T00:00:00Z';
  await bed.client.mergePatch(target, {
    spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': restartedAt } } } },
  });
  for (let pass = 0; pass < 5; pass += 1) {
    operator.wake({ namespace: ns.name, name: 'weather' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { spec } = await ns.deploymentOf();
  assert.equal(spec.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'], restartedAt);
  assert.equal(count(), 1);
});

test('RC-02 a missing target is said, costs no polling, and is enrolled when it comes back', async () => {
  const ns = await inNamespace(bed, 'missing');
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  await bed.client.remove({ kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' });
  await ns.says('Pending/TargetNotFound');
  const { status } = await ns.runtimeOf();
  assert.equal(status?.conditions?.find(({ type }) => type === 'TargetResolved')?.reason, 'TargetNotFound');
  const before = operator.writes(ns.name).length;
  await new Promise((resolve) => setTimeout(resolve, 500));
  await operator.events.idle();
  assert.ok(operator.writes(ns.name).length - before <= 1);
  await ns.create(kinds.deployment, deployment(ns.name));
  const begun = performance.now();
  await ns.says('Active/Configured');
  assert.ok(performance.now() - begun < 2_000);
  assert.equal((await ns.deploymentOf()).metadata.labels?.[labels.type], 'agent');
  assert.deepEqual(
    operator.log.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('RC-03 after deletion the workload is as its owner left it, with one more rollout', async () => {
  const ns = await inNamespace(bed, 'release');
  const marks = { 'rossoctl.io/skills': '["forecast"]', 'rossoctl.io/other': 'kept' };
  await ns.create(
    kinds.deployment,
    deployment(ns.name, 'weather-agent', { labels: { 'rossoctl.io/team': 'blue' }, annotations: marks }),
  );
  await eventually(
    async () => (await ns.deploymentOf()).metadata.annotations?.['deployment.kubernetes.io/revision'] === '1',
  );
  const original = await ns.deploymentOf();
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  await ns.remove();
  await ns.isGone();
  const released = await ns.deploymentOf();
  assert.deepEqual(asOwned(released), asOwned(original));
  assert.equal((released.metadata.generation ?? 0) - (original.metadata.generation ?? 0), 2);
  const { items } = await bed.client.list(kinds.configMap, { namespace: ns.name });
  assert.ok(!items.some(({ metadata }) => metadata.name === configMaps.authBridge.name));
});

test('GO-02 managed-by of Helm and Pulumi stays theirs through enrolment and deletion', async () => {
  const ns = await inNamespace(bed, 'helm');
  for (const owner of ['Helm', 'pulumi']) {
    const name = owner.toLowerCase();
    await ns.create(kinds.deployment, deployment(ns.name, name, { labels: { [labels.managedBy]: owner } }));
    const original = await ns.deploymentOf(name);
    await ns.create(
      kinds.agentRuntime,
      agentRuntime(ns.name, name, { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } }),
    );
    await ns.says('Active/Configured', name);
    assert.equal((await ns.deploymentOf(name)).metadata.labels?.[labels.managedBy], owner);
    await ns.remove(name);
    await ns.isGone(name);
    assert.deepEqual(asOwned(await ns.deploymentOf(name)), asOwned(original));
  }
});
