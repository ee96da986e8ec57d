/** New pods that a real API server refuses, for every kind of target: what is said of them and of those from before, and when it is taken back. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { labels } from '../../runtime/api/names.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import type { WorkloadKind } from '../../runtime/workload/kinds.ts';
import { eventually } from '../support/engine-bed.ts';
import { eventKind } from '../support/events.ts';
import { workloadKinds } from '../support/workload-objects.ts';
import { type EnrolmentBed, type Operator, startEnrolmentBed } from './bed.ts';
import { agentRuntime, deployment, podTemplate } from './objects.ts';
import { installRefusal, refusalWords, refusing } from './refusal.ts';

const nodes: Kind = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const quotas: Kind = { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true };

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('refused');
  await installRefusal(bed);
  for (const name of ['node-1', 'node-2']) {
    await bed.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  }
  operator = await bed.startOperator({ snags: { shortMs: 300, longMs: 1_500 } });
});
after(() => bed.stop());

const targeting = (kind: WorkloadKind, name = 'weather-agent') => ({
  targetRef: { apiVersion: workloadKinds[kind].apiVersion, kind, name },
});

function rolling(kind: 'StatefulSet' | 'DaemonSet', namespace: string, more: object = {}): KubeObject {
  const name = 'weather-agent';
  const template = podTemplate(name, undefined, { tolerations: [{ operator: 'Exists' }] });
  const spec = { selector: { matchLabels: { app: name } }, template, ...more };
  return { apiVersion: 'apps/v1', kind, metadata: { namespace, name }, spec } as KubeObject;
}

test('a Deployment whose new pods are refused: an error with the refusal’s sentence, and the old pod counts as bare', async (t) => {
  const ns = await refusing(bed, operator, 'refused-deployment', t);
  await ns.refuse();
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.untilRunning(1);
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Error/PodsRefused');
  await ns.saysOfPods('False/PodsRefused');
  const message = await ns.message();
  assert.ok(message.includes(refusalWords), message);
  assert.match(message, /from before its enrolment run on without sidecars/);
  assert.doesNotMatch(message, /weather-agent-[a-z0-9]+/);
  const { status } = await ns.runtimeOf();
  assert.deepEqual([status?.configuredPods, status?.message], [0, message]);
  await ns.countsBare(1);

  await operator.events.idle();
  const before = operator.writes(ns.name).length;
  const failures = async () => {
    const { items } = await bed.client.list(eventKind, { namespace: ns.name });
    return items
      .filter(({ reason }) => reason === 'FailedCreate')
      .reduce((sum, { deprecatedCount = 1 }) => sum + deprecatedCount, 0);
  };
  const tries = await failures();
  await eventually(async () => assert.ok((await failures()) > tries, 'Kubernetes tried no more'));
  for (let pass = 0; pass < 10; pass += 1) operator.wake({ namespace: ns.name, name: 'weather' });
  await eventually(async () => assert.ok((await failures()) > tries));
  assert.equal(operator.writes(ns.name).length, before, 'a refusal that goes on is written once');

  await ns.welcome();
  // Kubernetes tries again at intervals that double; a scaling makes it try at once.
  const target = { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' };
  await bed.client.mergePatch(target, { spec: { replicas: 2 } });
  await ns.says('Active/Configured', 'weather');
  await ns.saysOfPods('True/AllInjected');
  assert.equal((await ns.runtimeOf()).status?.configuredPods, 2);
  await ns.countsBare(0);
});

test('a quota of the API server’s own refuses the pod: told without the pod’s name', async (t) => {
  const ns = await refusing(bed, operator, 'refused-quota', t);
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.untilRunning(1);
  const metadata = { namespace: ns.name, name: 'few' };
  const spec = { hard: { pods: '1' } };
  await ns.create(quotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec } as KubeObject);
  await eventually(async () => {
    const found = await bed.client.get(quotas, { namespace: ns.name, name: 'few' });
    const { status } = found as KubeObject & { readonly status?: { readonly used?: { readonly pods?: string } } };
    assert.equal(status?.used?.pods, '1');
  });
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Error/PodsRefused');
  assert.match(await ns.message(), /pods "weather-agent" is forbidden: exceeded quota: few/);
});

for (const [kind, more] of [
  ['StatefulSet', { replicas: 2, serviceName: 'weather-agent' }],
  ['DaemonSet', {}],
] as const) {
  test(`a ${kind} whose new pods are refused says where to look; what is left of the old ones counts as bare`, async (t) => {
    const ns = await refusing(bed, operator, `refused-${kind.toLowerCase()}`, t);
    await ns.refuse();
    await ns.create(workloadKinds[kind], rolling(kind, ns.name, more));
    await ns.untilRunning(2);
    await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'weather', targeting(kind)));
    await ns.says('Pending/RolloutStalled');
    await ns.saysOfPods('False/RolloutStalled');
    const where = `kubectl describe ${kind.toLowerCase()} weather-agent -n ${ns.name}`;
    assert.ok((await ns.message()).includes(where), await ns.message());
    await ns.countsBare(1);
    await ns.welcome();
    await ns.says('Active/Configured', 'weather');
    await ns.saysOfPods('True/AllInjected');
    assert.equal((await ns.runtimeOf()).status?.configuredPods, 2);
  });
}

test('a Job that is resumed and gets no pod, and a CronJob of which one run gets none', async (t) => {
  const ns = await refusing(bed, operator, 'refused-jobs', t);
  await ns.refuse();
  const template = podTemplate('weather-agent', undefined, { restartPolicy: 'Never' });
  const job = (name: string, spec: object, metadata: object = {}) =>
    ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: ns.name, name, ...metadata }, spec }) as KubeObject;
  await ns.create(kinds.job as Kind, job('weather-job', { suspend: true, template }));
  const cronJob = job('weather-cron', { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } });
  const cron = await ns.create(kinds.cronJob as Kind, { ...cronJob, kind: 'CronJob' });
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'job', targeting('Job', 'weather-job')));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'cron', targeting('CronJob', 'weather-cron')));
  for (const runtime of ['job', 'cron']) await ns.says('Active/Configured', runtime);
  const target = { kind: kinds.job, namespace: ns.name, name: 'weather-job' };
  await bed.client.mergePatch(target, { spec: { suspend: false } });
  const { name, uid = '' } = cron.metadata;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }];
  const run = { ...template, metadata: { ...template.metadata, labels: { [labels.type]: 'agent' } } };
  await ns.create(kinds.job as Kind, job('weather-cron-1', { template: run }, { ownerReferences }));
  for (const [runtime, stuck] of [
    ['job', 'weather-job'],
    ['cron', 'weather-cron-1'],
  ] as const) {
    await ns.says('Pending/RolloutStalled', runtime);
    const { message = '' } = (await ns.runtimeOf(runtime)).status ?? {};
    assert.ok(message.includes(`kubectl describe job ${stuck} -n ${ns.name}`), message);
  }
});

test('AD-03 pods from before the enrolment that nothing replaces are told, and no longer when a person has', async (t) => {
  const ns = await refusing(bed, operator, 'older', t);
  const onDelete = { replicas: 1, serviceName: 'weather-agent', updateStrategy: { type: 'OnDelete' } };
  await ns.create(kinds.statefulSet as Kind, rolling('StatefulSet', ns.name, onDelete));
  await ns.create(kinds.deployment, deployment(ns.name, 'paused'));
  await ns.untilRunning(2);
  const target = { kind: kinds.deployment, namespace: ns.name, name: 'paused' };
  await bed.client.mergePatch(target, { spec: { paused: true } });
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'weather', targeting('StatefulSet')));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'paused', targeting('Deployment', 'paused')));
  for (const runtime of ['weather', 'paused']) {
    await ns.saysOfPods('False/PodsWithoutSidecars', runtime);
    await ns.says('Active/Configured', runtime);
  }
  await bed.client.remove({ kind: kinds.pod, namespace: ns.name, name: 'weather-agent-0' });
  await bed.client.mergePatch(target, { spec: { paused: false } });
  for (const runtime of ['weather', 'paused']) await ns.saysOfPods('True/AllInjected', runtime);
});

test('a DaemonSet whose template is certain to be refused keeps its pods, and is enrolled when it is corrected', async (t) => {
  const ns = await refusing(bed, operator, 'certain', t);
  const set = rolling('DaemonSet', ns.name);
  const plain = podTemplate('weather-agent').spec.containers;
  const template = { metadata: { labels: { app: 'weather-agent' } }, spec: { containers: plain, hostNetwork: true } };
  await ns.create(kinds.daemonSet, { ...set, spec: { ...(set as { spec?: object }).spec, template } } as never);
  await ns.untilRunning(2);
  const uids = async () => new Set((await ns.pods()).map(({ metadata }) => metadata.uid));
  const first = await uids();
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'weather', targeting('DaemonSet')));
  await ns.says('Error/HostNetworkConflict');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.deepEqual(await uids(), first);
  assert.ok(!operator.writes(ns.name).some(({ resource }) => resource === 'daemonsets'));
  const target = { kind: kinds.daemonSet, namespace: ns.name, name: 'weather-agent' };
  await bed.client.mergePatch(target, { spec: { template: { spec: { hostNetwork: null } } } });
  await eventually(async () => {
    const { spec } = await bed.client.get(kinds.daemonSet, { namespace: ns.name, name: 'weather-agent' });
    assert.equal(spec.template.metadata?.labels?.[labels.type], 'agent');
  });
});
