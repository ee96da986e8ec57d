/** Targets on a real API server: every kind, a target that changes, what its pods need, pods without sidecars. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, configMaps, install, labels, managedBy } from '../../runtime/api/names.ts';
import { eventually } from '../support/engine-bed.ts';
import { type EnrolmentBed, inNamespace, type Operator, startEnrolmentBed, startKubelet } from './bed.ts';
import { agentRuntime, deployment, podTemplate } from './objects.ts';

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('targets');
  operator = await bed.startOperator();
});
after(() => bed.stop());

test('every kind of target: StatefulSet, DaemonSet, CronJob, a suspended Job; a started Job is refused', async () => {
  const ns = await inNamespace(bed, 'kinds');
  const spec = (kind: string) => ({ selector: { matchLabels: { app: kind } }, template: podTemplate(kind) });
  const once = (name: string) => ({ template: podTemplate(name, undefined, { restartPolicy: 'Never' }) });
  const make = (kind: typeof kinds.statefulSet | typeof kinds.job, name: string, body: unknown) =>
    bed.client.create(
      kind as typeof kinds.job,
      { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace: ns.name, name }, spec: body } as never,
    );
  await make(kinds.statefulSet, 'set', { serviceName: 'set', ...spec('set') });
  await make(kinds.daemonSet as never, 'daemon', spec('daemon'));
  await make(kinds.cronJob as never, 'cron', { schedule: '0 0 1 1 *', jobTemplate: { spec: once('cron') } });
  await make(kinds.job, 'suspended', { suspend: true, ...once('suspended') });
  await make(kinds.job, 'started', once('started'));
  await eventually(
    async () =>
      (await bed.client.get(kinds.job, { namespace: ns.name, name: 'started' })).status?.startTime !== undefined,
  );
  const targets = [
    ['StatefulSet', 'set'],
    ['DaemonSet', 'daemon'],
    ['CronJob', 'cron'],
    ['Job', 'suspended'],
    ['Job', 'started'],
  ] as const;
  for (const [kind, name] of targets) {
    const api = kind === 'Job' || kind === 'CronJob' ? 'batch/v1' : 'apps/v1';
    await ns.create(kinds.agentRuntime, agentRuntime(ns.name, name, { targetRef: { apiVersion: api, kind, name } }));
  }
  for (const name of ['set', 'daemon', 'cron', 'suspended']) await ns.says('Active/Configured', name);
  await ns.says('Error/TargetImmutable', 'started');
  const cron = await bed.client.get(kinds.cronJob, { namespace: ns.name, name: 'cron' });
  assert.equal(cron.spec.jobTemplate.spec.template.metadata?.labels?.[labels.type], 'agent');
  const job = await bed.client.get(kinds.job, { namespace: ns.name, name: 'suspended' });
  assert.equal(job.spec.template.metadata?.labels?.[labels.type], 'agent');
  // Resumed, the Job's template is immutable: the AgentRuntime stays Active and can be deleted.
  await bed.client.mergePatch({ kind: kinds.job, namespace: ns.name, name: 'suspended' }, { spec: { suspend: false } });
  await eventually(
    async () =>
      (await bed.client.get(kinds.job, { namespace: ns.name, name: 'suspended' })).status?.startTime !== undefined,
  );
  await ns.says('Active/Configured', 'suspended');
  for (const [, name] of targets) await ns.remove(name);
  for (const [, name] of targets) await ns.isGone(name);
  const freed = await bed.client.get(kinds.cronJob, { namespace: ns.name, name: 'cron' });
  assert.equal(freed.spec.jobTemplate.spec.template.metadata?.labels?.[labels.type], undefined);
});

test('targetRef may change: the old workload is released, the new one enrolled', async () => {
  const ns = await inNamespace(bed, 'moving');
  await ns.create(kinds.deployment, deployment(ns.name, 'old'));
  await ns.create(kinds.deployment, deployment(ns.name, 'new'));
  const ref = (name: string) => ({ targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } });
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'weather', ref('old')));
  await ns.says('Active/Configured');
  await bed.client.mergePatch({ kind: kinds.agentRuntime, namespace: ns.name, name: 'weather' }, { spec: ref('new') });
  await eventually(async () => (await ns.runtimeOf()).status?.target?.name === 'new');
  const [old, fresh] = [await ns.deploymentOf('old'), await ns.deploymentOf('new')];
  assert.equal(old.metadata.labels?.[labels.type], undefined);
  assert.equal(old.spec.template.metadata?.annotations?.[annotations.configHash], undefined);
  assert.equal(fresh.spec.template.metadata?.labels?.[labels.type], 'agent');
});

test('PM-12 a ServiceAccount that the template names is there before the pods are; it is never taken over', async () => {
  const ns = await inNamespace(bed, 'accounts');
  await ns.create(kinds.serviceAccount, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: ns.name, name: 'mine' },
  });
  await ns.create(kinds.deployment, deployment(ns.name, 'a', { serviceAccount: 'mine' }));
  await ns.create(kinds.deployment, deployment(ns.name, 'b', { serviceAccount: 'new' }));
  for (const name of ['a', 'b']) {
    await ns.create(
      kinds.agentRuntime,
      agentRuntime(ns.name, name, { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } }),
    );
    await ns.says('Active/Configured', name);
  }
  const labelsOf = async (name: string) =>
    (await bed.client.get(kinds.serviceAccount, { namespace: ns.name, name })).metadata.labels;
  assert.equal(await labelsOf('mine'), undefined);
  assert.deepEqual(await labelsOf('new'), { [labels.managedBy]: managedBy });
});

test('AD-03 pods without sidecars are named, and no longer when they are gone', async (t) => {
  const ns = await inNamespace(bed, 'bare');
  const kubelet = startKubelet(bed, ns.name);
  t.after(kubelet.stop);
  const unmarked = {
    spec: { template: { metadata: { annotations: { [annotations.injected]: null } }, spec: { initContainers: null } } },
  };
  await ns.create(kinds.deployment, deployment(ns.name));
  await bed.client.mergePatch({ kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' }, unmarked);
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  const finding = async () => (await ns.runtimeOf()).status?.conditions?.find(({ type }) => type === 'PodsInjected');
  await eventually(async () => (await finding())?.reason === 'PodsWithoutSidecars');
  const names = (await ns.pods())
    .filter(({ metadata }) => metadata.labels?.[labels.type] === 'agent')
    .map(({ metadata }) => metadata.name ?? '');
  const said = (await finding())?.message ?? '';
  assert.ok(
    names.some((name) => said.includes(name)),
    said,
  );
  // While it is replaced, the pod from before the enrolment counts too.
  await eventually(async () =>
    assert.match(await operator.metrics.text(), /rossoctl_pods_without_sidecars\{[^}]*namespace="bare"[^}]*\} 1/),
  );
  await bed.client.mergePatch(
    { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' },
    { spec: { replicas: 0 } },
  );
  await eventually(async () => (await finding())?.reason === 'AllInjected');
});

test('in a namespace where no pod is ever injected nothing is written, and what was enrolled there is released', async () => {
  for (const namespace of ['kube-system', install.namespace]) {
    const key = { namespace, name: 'weather-agent' };
    const target = { kind: kinds.deployment, ...key };
    await bed.client.create(kinds.deployment, deployment(namespace));
    await bed.client.create(kinds.agentRuntime, agentRuntime(namespace));
    const untilSaid = () =>
      eventually(async () => {
        const { status } = await bed.client.get(kinds.agentRuntime, { namespace, name: 'weather' });
        const found = status?.conditions?.find(({ type }) => type === 'TargetResolved');
        assert.deepEqual([status?.phase, found?.reason], ['Error', 'SystemNamespace']);
      });
    await untilSaid();
    const onWorkload = () => operator.writes(namespace).filter(({ resource }) => resource === 'deployments').length;
    assert.equal(onWorkload(), 0);
    const { items } = await bed.client.list(kinds.configMap, { namespace });
    assert.ok(!items.some(({ metadata }) => metadata.name === configMaps.authBridge.name));
    // As an earlier release of the operator left it.
    const type = { [labels.type]: 'agent' };
    await bed.client.mergePatch(target, {
      metadata: { labels: type },
      spec: { template: { metadata: { labels: type, annotations: { [annotations.configHash]: 'f'.repeat(64) } } } },
    });
    await eventually(async () => {
      const { metadata, spec } = await bed.client.get(kinds.deployment, key);
      assert.equal(metadata.labels?.[labels.type], undefined);
      assert.equal(spec.template.metadata?.labels?.[labels.type], undefined);
      assert.equal(spec.template.metadata?.annotations?.[annotations.configHash], undefined);
    });
    await untilSaid();
    assert.equal(onWorkload(), 1);
    await bed.client.remove({ kind: kinds.agentRuntime, namespace, name: 'weather' });
  }
});
