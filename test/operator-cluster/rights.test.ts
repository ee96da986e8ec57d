/** RB-02 for the whole process: the rendered roles are enough, nothing in them is idle, and one right that is missing stops one kind. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import { type AuditRequest, textOf } from '../support/audit-log.ts';
import { runCronJob } from '../support/cron-run.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried, untilDeleted, untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import {
  createNamespace,
  featureGates,
  namespaceDefaults,
  platformConfig,
  putConfigMap,
  runtimeFor,
  workload,
} from '../support/workload-objects.ts';
import { cardLife, verifying, verifyingFlags } from './card-life.ts';
import { grantsIn, grantText, isNeededFor, isUsedBy } from './grants.ts';

/** Grants that an ordinary life does not use, each with the occasion that does. */
const fight = 'another tool keeps undoing our labels: who it is stands in managedFields, which the cache does not keep';
const occasions: Readonly<Record<string, string>> = {
  'get apps/deployments *': fight,
  'get apps/statefulsets *': fight,
  'get apps/daemonsets *': fight,
  'get batch/cronjobs *': fight,
  'get apps/controllerrevisions *':
    'a pod of a StatefulSet or DaemonSet comes with our marker, and the template it was made from is looked at',
  'get apps/replicasets *': 'a pod reaches the webhook before its ReplicaSet reaches the cache',
  'get /namespaces *': 'a pod reaches the webhook before its Namespace reaches the cache',
  'delete networking.k8s.io/networkpolicies *':
    'audit mode withdraws policies, and so does a card whose workload has another',
  'get agent.rossoctl.dev/agentruntimes *': 'two controllers take their finalizers off at the same moment',
};

describe('rights of the operator process', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  before(async () => {
    bed = await startOperatorBed('rights', { platform: verifying });
  });
  after(() => bed.stop());

  test('RB-02 nothing forbidden is tried, and each grant is used or has its occasion', async () => {
    const operator = await bed.startReady('all', { flags: verifyingFlags });
    await untilLeading(operator);
    await life(bed);
    await cardLife(bed.client, await createNamespace(bed.client, 'cards'));
    await operator.stop();
    await onOldServer(bed);

    const used = bed.audit.requests();
    const refused = used.filter(({ responseStatus }) => responseStatus?.code === 401 || responseStatus?.code === 403);
    assert.deepEqual(refused.map(textOf), []);
    const grants = grantsIn(bed.objects);
    const ungranted = used.filter(
      (request) => request.objectRef !== undefined && !grants.some((grant) => isUsedBy(grant, request)),
    );
    assert.deepEqual(
      [...new Set(ungranted.map(textOf))],
      [],
      'what the roles do not grant was allowed by something else',
    );
    const idle = grants.filter((grant) => !used.some((request) => isNeededFor(grant, request, grants))).map(grantText);
    assert.deepEqual(
      idle.filter((grant) => occasions[grant] === undefined),
      [],
      'granted and never used, or only where a narrower grant would do',
    );
    const texts = new Set(grants.map(grantText));
    assert.deepEqual(
      Object.keys(occasions).filter((grant) => !texts.has(grant)),
      [],
      'no longer granted',
    );
  });

  test('RB-02 one missing right stops one kind, is named, and everything starts when it is given', async () => {
    const { client } = bed;
    const role = bed.objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name?.includes('manager'));
    assert.ok(role !== undefined);
    const rules = (role['rules'] as readonly Rule[]).map((rule) => ({
      ...rule,
      resources: rule.resources.filter((resource) => resource !== 'cronjobs'),
    }));
    await client.replace(kindOf(role), { ...role, rules } as KubeObject);
    const operator = await bed.startReady('without');
    await untilLeading(operator);
    const readiness = await operator.readiness();
    assert.equal(readiness?.ok, true);
    assert.match(
      readiness.degraded.find(({ name }) => name === 'controllers')?.reason ?? '',
      /watch cronjobs: .*403 .*cannot (list|watch) resource "cronjobs"/,
    );
    assert.equal(await operator.metric('watch_synced{watch="cronjobs"}'), 0);
    assert.equal(await operator.metric('watch_synced{watch="deployments"}'), 1);

    const ns = await createNamespace(client, 'without');
    const objects = (['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const).map((kind) =>
      workload(kind, ns, kind.toLowerCase()),
    );
    for (const object of objects) await client.create(kindOf(object), object);
    const runtimes = objects.map((object) => runtimeFor(object));
    for (const runtime of runtimes) await client.create(kinds.agentRuntime, runtime);
    for (const runtime of runtimes.slice(0, 4)) await untilSays(client, runtime, 'Active/Configured');
    const cron = runtimes[4];
    assert.ok(cron !== undefined);
    const { status } = await untilSays(client, cron, 'Error/TargetUnavailable');
    assert.match(status?.message ?? '', /kind CronJob cannot be read.*cannot (list|watch) resource "cronjobs"/);

    await applyAll(client, [role]);
    await untilSays(client, cron, 'Active/Configured');
    await eventually(async () => assert.deepEqual((await operator.readiness())?.degraded, []));
    assert.equal(await operator.metric('watch_synced{watch="cronjobs"}'), 1);
    for (const runtime of runtimes) await untilDeleted(client, runtime);
    await operator.stop();
  });
});

interface Rule {
  readonly resources: readonly string[];
}

/** Everything an operator meets: five kinds enrolled with pods, changes of every layer, a bad layer twice, rotation, deletion. */
async function life(bed: OperatorBed): Promise<void> {
  const { client, audit } = bed;
  const ns = await createNamespace(client, 'life');
  const pod = { serviceAccountName: 'agents' };
  const objects = [
    workload('Deployment', ns, 'deployed', { replicas: 1, pod }),
    workload('StatefulSet', ns, 'stateful', { replicas: 1, pod }),
    workload('DaemonSet', ns, 'everywhere', { pod }),
    workload('Job', ns, 'once', { pod }),
    workload('CronJob', ns, 'often', { pod }),
  ];
  for (const object of objects) await client.create(kindOf(object), object);
  const runtimes = objects.map((object) => runtimeFor(object));
  for (const runtime of runtimes) await client.create(kinds.agentRuntime, runtime);
  for (const runtime of runtimes) await untilSays(client, runtime, 'Active/Configured');
  await runCronJob(bed, ns, 'often');
  await eventually(async () => {
    const { items } = await client.list(kinds.pod, { namespace: ns });
    assert.equal(items.length, 3, 'pods of Deployment, StatefulSet and Job');
  });

  await putConfigMap(client, platformConfig('trace:\n  endpoint: collector.life:4317\n'));
  await putConfigMap(client, featureGates('skillDiscovery: true\n'));
  for (let times = 0; times < 2; times += 1) {
    await putConfigMap(client, namespaceDefaults(ns, 'trace:\n  endpiont: x:1\n'));
    for (const runtime of runtimes) await untilSays(client, runtime, 'Error/ConfigInvalid');
    await putConfigMap(client, namespaceDefaults(ns, 'trace:\n  endpoint: x:1\n'));
    for (const runtime of runtimes) await untilSays(client, runtime, 'Active/Configured');
  }

  await client.remove({ kind: kinds.secret, namespace: install.namespace, name: install.certificateSecret });
  const secret = { namespace: install.namespace, name: install.certificateSecret };
  await eventually(() => client.get(kinds.secret, secret));
  await client.replace(kinds.secret, {
    ...(await client.get(kinds.secret, secret)),
    data: { 'tls.crt': '', 'tls.key': '' },
  });
  await eventually(async () => assert.notEqual((await client.get(kinds.secret, secret)).data?.['tls.crt'], ''));

  for (const runtime of runtimes) await untilDeleted(client, runtime);
  for (const object of objects) {
    const { namespace, name = '' } = object.metadata;
    assert.deepEqual(carriedBy(await client.get(kindOf(object), { namespace, name })), nothingCarried);
  }
  await eventually(async () => {
    await client.get(kinds.configMap, { namespace: ns, name: 'rossoctl-authbridge-config' }).then(
      () => assert.fail('the ConfigMap of the sidecars is still there'),
      (error: unknown) => assert.ok(isNotFound(error)),
    );
  });
  assert.ok(
    audit
      .requests()
      .some((request: AuditRequest) => request.verb === 'patch' && request.objectRef?.resource === 'events'),
  );
}

/** An API server before 1.32 refuses a list that is asked for as a stream; then every watch begins with a list. */
async function onOldServer(bed: OperatorBed): Promise<void> {
  const proxy = await bed.httpProxy();
  proxy.rule(({ url }) => (url.includes('sendInitialEvents=true') ? { status: 422 } : undefined));
  const operator = await bed.startReady('old', { port: proxy.port, flags: verifyingFlags });
  await untilLeading(operator);
  await operator.stop();
}
