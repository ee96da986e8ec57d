/** A platform change that the API server refuses to let happen: the workload keeps its place in the rollout until the deadline. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { configMaps, labels } from '../../runtime/api/names.ts';
import { eventually, metric } from '../support/engine-bed.ts';
import { type EnrolmentBed, type Operator, startEnrolmentBed } from './bed.ts';
import { agentRuntime, deployment, platformConfig } from './objects.ts';
import { installRefusal, refusing } from './refusal.ts';

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('refused-rollout');
  await installRefusal(bed);
  operator = await bed.startOperator({ snags: { shortMs: 300, longMs: 1_500 } });
});
after(() => bed.stop());

const setPlatform = (mode: string) => {
  const text = `rollout: {maxConcurrentWorkloads: 1, deadlineSeconds: 20}\nmtls: {mode: ${mode}}\n`;
  return bed.client.apply({ kind: kinds.configMap, body: platformConfig(text) }, { fieldManager: 'admin' });
};

const defaults = (mode: string) => ({ [configMaps.namespaceDefaults.key]: `mtls: {mode: ${mode}}\n` });

test('CF-03 a refused rollout is not counted as finished: it keeps its place until the deadline, then the next one rolls', async (t) => {
  await setPlatform('permissive');
  const first = await refusing(bed, operator, 'first-place', t);
  const next = await refusing(bed, operator, 'next-place', t);
  const metadata = { namespace: next.name, name: 'defaults', labels: { [labels.defaults]: 'true' } };
  await next.create(kinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: defaults('permissive') });
  for (const one of [first, next]) {
    await one.create(kinds.deployment, deployment(one.name));
    await one.create(kinds.agentRuntime, agentRuntime(one.name));
    await eventually(async () => assert.equal((await one.runtimeOf()).status?.configuredPods, 1));
  }
  await first.refuse();
  await setPlatform('strict');
  await first.says('Error/PodsRefused', 'weather');
  assert.equal(await metric(operator, 'rossoctl_rollout_in_progress'), 1);
  // Its old pod carries sidecars: nothing runs bare.
  await first.countsBare(0);
  const hash = (await next.runtimeOf()).status?.configHash;
  const target = { kind: kinds.configMap, namespace: next.name, name: 'defaults' };
  await bed.client.mergePatch(target, { data: defaults('disabled') });
  await next.says('Pending/RolloutPending', 'weather');
  await first.says('Error/PodsRefused');
  await next.says('Active/Configured', 'weather');
  assert.notEqual((await next.runtimeOf()).status?.configHash, hash);
  await first.says('Error/PodsRefused');
});
