/** Changes of the platform configuration on a real API server: who rolls, how many at once, and what is never written. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { annotations, configMaps, install, labels } from '../../runtime/api/names.ts';
import { deploymentRollout } from '../../runtime/workload/rollout.ts';
import { eventually, metric } from '../support/engine-bed.ts';
import { type EnrolmentBed, inNamespace, type Operator, startEnrolmentBed, startKubelet } from './bed.ts';
import { agentRuntime, deployment, platformConfig } from './objects.ts';

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('configuration');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const platform = { kind: kinds.configMap, namespace: install.namespace, name: configMaps.platform.name };
const setPlatform = (text: string) =>
  bed.client.apply({ kind: kinds.configMap, body: platformConfig(text) }, { fieldManager: 'admin' });
const hashOf = ({ spec }: Deployment) => spec.template.metadata?.annotations?.[annotations.configHash];

async function fleet(namespace: string, size: number) {
  const ns = await inNamespace(bed, namespace);
  const names = Array.from({ length: size }, (_, i) => `agent-${String(i).padStart(2, '0')}`);
  for (const name of names) {
    await ns.create(kinds.deployment, deployment(namespace, name));
    await ns.create(
      kinds.agentRuntime,
      agentRuntime(namespace, name, { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } }),
    );
  }
  const list = async () => (await bed.client.list<Deployment>(kinds.deployment, { namespace })).items;
  const isSettled = async () =>
    (await list()).every((one) => deploymentRollout(one) === 'finished' && hashOf(one) !== undefined);
  await eventually(isSettled);
  return { ns, list, isSettled };
}

test('CF-03 a platform change over 30 rolls at most three at a time, and costs two requests each, three where the wait is long', {
  timeout: 600_000,
}, async (t) => {
  await setPlatform('rollout: {maxConcurrentWorkloads: 3}\n');
  const kubelet = startKubelet(bed, 'waves', 400);
  t.after(kubelet.stop);
  const { list, isSettled } = await fleet('waves', 30);
  await eventually(
    async () => (await list()).length === 30 && (await metric(operator, 'rossoctl_rollout_in_progress')) === 0,
  );
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.agentRuntime, { namespace: 'waves' });
    return items.every(({ status }) => status?.configuredPods === 1);
  });
  await operator.events.idle();
  const old = hashOf((await list())[0] as Deployment);
  const before = operator.writes('waves').length;
  await setPlatform('rollout: {maxConcurrentWorkloads: 3}\nmtls: {mode: strict}\n');
  let most = 0;
  await eventually(async () => {
    const now = await list();
    const rolling = now.filter((one) => hashOf(one) !== old && deploymentRollout(one) === 'running').length;
    most = Math.max(most, rolling);
    return now.every((one) => hashOf(one) !== old) && (await isSettled());
  }, 120_000);
  assert.ok(most > 0 && most <= 3, `${most} at once`);
  await eventually(async () => (await metric(operator, 'rossoctl_rollout_waiting')) === 0);
  await operator.events.idle();
  const writes = operator
    .writes('waves')
    .slice(before)
    .filter(({ resource }) => resource !== 'configmaps');
  const count = (resource: string) => writes.filter((write) => write.resource === resource).length;
  assert.equal(count('deployments'), 30);
  // One status each; one more for each that waited longer than five seconds, which depends on the machine.
  const statuses = count('agentruntimes/status');
  assert.ok(statuses >= 30 && statuses <= 60, `${statuses} status writes`);
  assert.equal(writes.length, 30 + statuses);
});

test('CF-03 an operator that starts anew with nothing changed writes nothing', async () => {
  await operator.stop();
  const next = await bed.startOperator();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await next.events.idle();
  assert.deepEqual(next.writes(), []);
  operator = next;
  await bed.client.remove({ kind: kinds.namespace, name: 'waves' });
  await eventually(
    async () => (await bed.client.list(kinds.agentRuntime, { namespace: 'waves' })).items.length === 0,
    30_000,
  );
});

test('CF-03 paused holds a change; going on lets it through', async (t) => {
  const kubelet = startKubelet(bed, 'paused');
  t.after(kubelet.stop);
  await setPlatform('rollout: {paused: true}\nmtls: {mode: strict}\n');
  const { ns, list } = await fleet('paused', 2);
  const old = hashOf((await list())[0] as Deployment);
  await setPlatform('rollout: {paused: true}\nmtls: {mode: disabled}\n');
  await ns.says('Pending/RolloutPending', 'agent-00', 15_000);
  assert.equal(hashOf((await list())[0] as Deployment), old);
  await setPlatform('mtls: {mode: disabled}\n');
  await ns.says('Active/Configured', 'agent-00');
  await eventually(async () => (await list()).every((one) => hashOf(one) !== old));
});

test('CF-02 a namespace that overrides the key does not roll, and no ConfigMap of a person is ever written', async () => {
  const realm = (name: string) => `identity: {realm: ${name}}\n`;
  await setPlatform(realm('default'));
  const ns = await inNamespace(bed, 'overrides');
  const data = { [configMaps.namespaceDefaults.key]: realm('team1-realm') };
  const metadata = { namespace: ns.name, name: 'defaults', labels: { [labels.defaults]: 'true' } };
  const own = await ns.create(kinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as never);
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const hash = hashOf(await ns.deploymentOf());
  await setPlatform(realm('other'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (let pass = 0; pass < 10; pass += 1) operator.wake({ namespace: ns.name, name: 'weather' });
  await operator.stop();
  operator = await bed.startOperator();
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(hashOf(await ns.deploymentOf()), hash);
  const settings = await bed.client.get(kinds.configMap, { namespace: ns.name, name: configMaps.authBridge.name });
  assert.equal(settings.data?.['KEYCLOAK_REALM'], 'team1-realm');
  const still = await bed.client.get(kinds.configMap, { namespace: ns.name, name: 'defaults' });
  assert.equal(still.metadata.resourceVersion, (own as typeof still).metadata.resourceVersion);
});

test('a ConfigMap with a mistake rolls nothing and is reported with object, key and line; its repair is seen', async () => {
  const ns = await inNamespace(bed, 'mistake');
  await setPlatform('mtls: {mode: permissive}\n');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const hash = hashOf(await ns.deploymentOf());
  await setPlatform('mtls:\n  mode: strict\n  nonsense: true\n');
  await ns.says('Error/ConfigInvalid');
  const { message = '' } = (await ns.runtimeOf()).status ?? {};
  assert.match(message, /rossoctl-platform-config/);
  assert.match(message, /config\.yaml/);
  assert.match(message, /line 3|nonsense/);
  assert.equal(hashOf(await ns.deploymentOf()), hash);
  await setPlatform('mtls: {mode: permissive}\n');
  await ns.says('Active/Configured');
  assert.equal(hashOf(await ns.deploymentOf()), hash);
  await bed.client.remove(platform);
});
