/** The operator killed right before its Nth write, for every N of a life: after a restart the end is the same, and nothing happened twice. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, standingOf, untilDeleted, untilSays } from '../support/enrolments.ts';
import type { Recorded } from '../support/http-proxy.ts';
import { type OperatorBed, startOperatorBed } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import { type Supervised, supervise } from '../support/supervised-operator.ts';
import { createNamespace, platformConfig, putConfigMap, runtimeFor, workload } from '../support/workload-objects.ts';

let bed: OperatorBed;
before(async () => {
  bed = await startOperatorBed('killed');
});
after(() => bed.stop());

/** Of the controller: what a process does for its own certificate and lease is no part of an enrolment. */
function isWrite({ method, url }: Recorded): boolean {
  return method !== 'GET' && !/\/(leases|secrets|mutatingwebhook|validatingwebhook)/.test(url);
}

test('killed -9 before any write of an enrolment, a platform change and a deletion: the end is as if nothing had been', async () => {
  const proxy = await bed.httpProxy();
  let operator: Supervised | undefined;
  let countdown = Number.POSITIVE_INFINITY;
  let writes = 0;
  proxy.rule((request) => {
    if (!isWrite(request)) return undefined;
    writes += 1;
    countdown -= 1;
    if (countdown !== 0) return undefined;
    operator?.current.signal('SIGKILL');
    return { status: 503 };
  });
  operator = await supervise(bed, 'start', { port: proxy.port, flags: { 'leader-elect': 'false' } });

  await eventually(() => bed.service.ready.length === 1);
  const undisturbed = await life(0);
  const wholeLife = writes;
  assert.ok(wholeLife >= 8, `${wholeLife} writes`);
  let kills = 0;
  for (let at = 1; at <= wholeLife; at += 1) {
    countdown = at;
    assert.deepEqual(await life(at), undisturbed, `killed before write ${at} of ${wholeLife}`);
    if (countdown <= 0) kills += 1;
    countdown = Number.POSITIVE_INFINITY;
  }
  assert.ok(kills >= wholeLife - 2, `${kills} of ${wholeLife} kills took place; events may be fewer`);
  await operator.end();
});

/** One AgentRuntime from its creation to its end; returns what was there at each stage. */
async function life(number: number): Promise<readonly unknown[]> {
  const { client } = bed;
  const namespace = await createNamespace(client, `life-${number}`);
  await putConfigMap(client, platformConfig('trace:\n  endpoint: before:4317\n'));
  const object = workload('Deployment', namespace, 'weather', { pod: { serviceAccountName: 'agents' } });
  await client.create(kindOf(object), object);
  const runtime = runtimeFor(object);
  await applyAll(client, [runtime]);
  await untilSays(client, runtime, 'Active/Configured');
  const stages = [await seen(namespace)];
  const { configHash } = (await client.get(kinds.agentRuntime, { namespace, name: 'weather' })).status ?? {};
  await putConfigMap(client, platformConfig('trace:\n  endpoint: after:4317\n'));
  await eventually(async () => {
    const { status } = await client.get(kinds.agentRuntime, { namespace, name: 'weather' });
    assert.notEqual(status?.configHash, configHash);
  });
  stages.push(await seen(namespace));
  await untilDeleted(client, runtime);
  await eventually(async () => {
    const { items } = await client.list(kinds.configMap, { namespace });
    assert.ok(!items.some(({ metadata }) => metadata.name === 'rossoctl-authbridge-config'));
  });
  return [...stages, await seen(namespace)];
}

/** The workload, its AgentRuntime and what stands around them, without what differs from life to life. */
async function seen(namespace: string): Promise<unknown> {
  const { client } = bed;
  const [deployments, runtimes, accounts, configs] = await Promise.all([
    client.list(kinds.deployment, { namespace }),
    client.list(kinds.agentRuntime, { namespace }),
    client.list(kinds.serviceAccount, { namespace }),
    client.list(kinds.configMap, { namespace }),
  ]);
  const named = ({ metadata }: KubeObject): string => metadata.name ?? '';
  return {
    deployments: deployments.items.map((deployment) => ({
      carried: carriedBy({ ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' }),
      labels: deployment.metadata.labels,
      generation: deployment.metadata.generation,
    })),
    runtimes: runtimes.items.map((runtime) => ({
      says: standingOf(runtime),
      finalizers: runtime.metadata.finalizers,
      conditions: runtime.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      hash: runtime.status?.configHash,
    })),
    accounts: accounts.items.map(named).filter((name) => name !== 'default'),
    configs: configs.items.map((map) => [named(map), map.data]).filter(([name]) => name !== 'kube-root-ca.crt'),
  };
}
