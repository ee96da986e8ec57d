/** What an admission reads: nothing from the API server with a warm cache, one confirmation on a miss, and a failure that denies. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { kinds } from '../../../runtime/api/kinds.ts';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { gather, type Sources } from '../../../runtime/authbridge/gather.ts';
import { createAuthBridgeWebhook } from '../../../runtime/authbridge/webhook.ts';
import type { AdmissionRequest, KubeObject, Reader } from '../../../runtime/engine/types.ts';
import { injectedPod, layers, p0, r0 } from './fixtures.ts';

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1', labels: { x: 'y' } } };
const csiDriver: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'csi.spiffe.io' },
};
const replicaSet = (deployment: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    namespace: 'team1',
    name: 'weather-agent-7d9f8c6b5',
    uid: '0f7c4c1e-1111-4222-8333-000000000001',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: deployment, uid: 'd', controller: true }],
  },
});
const warm = [namespace, csiDriver, replicaSet('weather-agent'), r0()];

const isIn = (object: KubeObject, kind: string, where?: string) =>
  object.kind === kind && (where === undefined || object.metadata.namespace === where);

/** A cache of these objects. */
function reader(objects: readonly KubeObject[]): Reader {
  return {
    get: (watch, { namespace: where, name }) =>
      objects.find((object) => isIn(object, watch.kind.kind, where) && object.metadata.name === name) as never,
    list: (watch, where) =>
      objects
        .filter((object) => isIn(object, watch.kind.kind, where?.namespace))
        .filter((object) => {
          const { index } = where ?? {};
          return index === undefined || watch.indexes?.[index.name]?.(object as never).includes(index.value);
        }) as never,
  };
}

function sources(cached: readonly KubeObject[], live: readonly KubeObject[] | Error, gates = {}) {
  const requests: string[] = [];
  const answered = (what: string) => {
    requests.push(what);
    if (live instanceof Error) throw live;
    return reader(live);
  };
  const given: Sources = {
    reader: reader(cached),
    live: {
      get: async (kind, key) => answered(`get ${kind.plural}`).get({ id: '', kind }, key),
      list: async (kind, where) => answered(`list ${kind.plural}`).list({ id: '', kind }, where),
    },
    layers: { read: () => layers(gates), lastGood: () => layers(gates) },
    nativeSidecars: () => true,
    operatorNamespace: 'rossoctl-system',
  };
  return { requests, given };
}

function request(pod: Pod = p0(), parts: Partial<AdmissionRequest<Pod>> = {}): AdmissionRequest<Pod> {
  return {
    uid: '1',
    operation: 'CREATE',
    namespace: 'team1',
    name: '',
    object: pod,
    dryRun: false,
    user: 'u',
    ...parts,
  };
}

test('PM-08 with a warm cache no request is made, with dryRun neither', async () => {
  const { requests, given } = sources(warm, new Error('no API server'));
  const snapshot = await gather(request(p0(), { dryRun: true }), given);
  assert.equal(snapshot.runtime?.metadata.name, 'weather');
  assert.deepEqual(snapshot.owner, { kind: 'Deployment', name: 'weather-agent' });
  assert.deepEqual([snapshot.csiDriver, snapshot.namespaceLabels], [true, { x: 'y' }]);
  assert.deepEqual(requests, []);
});

test('an AgentRuntime the cache does not know is found by one live list', async () => {
  const { requests, given } = sources(warm.slice(0, 3), [r0()]);
  assert.equal((await gather(request(), given)).runtime?.metadata.name, 'weather');
  assert.deepEqual(requests, ['list agentruntimes']);
});

test('a read that fails denies: the review throws', async () => {
  const { given } = sources(warm.slice(0, 3), new Error('connection refused'));
  await assert.rejects(async () => createAuthBridgeWebhook(given).review(request()), /connection refused/);
});

test('what labels and gates settle needs no API server', async () => {
  const optedOut = p0({ labels: { 'rossoctl.io/inject': 'disabled' } });
  const cases: readonly (readonly [Pod, Record<string, boolean>, string])[] = [
    [optedOut, {}, 'OptedOut'],
    [p0(), { globalEnabled: false }, 'InjectionOff'],
    [p0({ labels: { 'rossoctl.io/type': 'tool' } }), {}, 'ToolsNotInjected'],
  ];
  for (const [pod, gates, reason] of cases) {
    const { given } = sources([], new Error('no API server'), gates);
    assert.equal((await createAuthBridgeWebhook(given).review(request(pod))).reason, reason);
  }
});

test('PM-16 the ReplicaSet names its Deployment; a name alone does not', async () => {
  const forWeather = {
    ...r0(),
    spec: { ...r0().spec, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } },
  };
  const { given } = sources([namespace, csiDriver, replicaSet('weather'), forWeather, r0({}, 'other')], []);
  assert.equal((await gather(request(), given)).runtime?.metadata.name, 'weather');
});

test('PM-16 a ReplicaSet the cache does not have is read once; one that nobody has is taken by its template hash', async () => {
  const { requests, given } = sources([namespace, csiDriver, r0()], [replicaSet('weather-agent')]);
  assert.equal((await gather(request(), given)).runtime?.metadata.name, 'weather');
  assert.deepEqual(requests, ['get replicasets']);
  const gone = sources([namespace, csiDriver, r0()], []);
  assert.equal((await gather(request(), gone.given)).runtime?.metadata.name, 'weather');
});

test('PM-16 bare pods and unknown owners are admitted, not crashed on', async () => {
  const { ownerReferences: _, generateName: __, ...bare } = p0().metadata;
  const foreign = [{ apiVersion: 'corp.example/v1', kind: 'Batch', name: 'b', uid: 'u', controller: true }];
  for (const metadata of [bare, { ...bare, name: 'solo' }, { ...bare, ownerReferences: foreign }]) {
    const { given } = sources(warm, warm);
    const verdict = await createAuthBridgeWebhook(given).review(request({ ...p0(), metadata }));
    assert.deepEqual([verdict.kind, verdict.reason], ['allow', 'NoAgentRuntime']);
  }
});

test("a CronJob is found through the pod's Job", async () => {
  const owner = (kind: string, name: string) => [{ apiVersion: 'batch/v1', kind, name, uid: 'j', controller: true }];
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'team1', name: 'n-1', uid: 'j', ownerReferences: owner('CronJob', 'n') },
  };
  const runtime: AgentRuntime = {
    ...r0(),
    spec: { type: 'agent', targetRef: { apiVersion: 'batch/v1', kind: 'CronJob', name: 'n' } },
  };
  const { given } = sources([namespace, csiDriver, runtime], [job]);
  const pod = { ...p0(), metadata: { ...p0().metadata, ownerReferences: owner('Job', 'n-1') } };
  assert.equal((await gather(request(pod), given)).runtime?.metadata.name, 'weather');
});

test('of two AgentRuntimes with one target the older counts, then the smaller uid', async () => {
  const older = {
    ...r0({}, 'zz'),
    metadata: { ...r0().metadata, name: 'zz', creationTimestamp: '2025-01-01T00:00:00Z' },
  };
  const twin = { ...r0({}, 'b'), metadata: { ...r0().metadata, name: 'b', uid: 'a' } };
  const leaving = {
    ...older,
    metadata: {
      ...older.metadata,
      name: 'old',
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
    },
  };
  const name = async (objects: readonly KubeObject[]) =>
    (await gather(request(), sources([...warm.slice(0, 3), ...objects], []).given)).runtime?.metadata.name;
  assert.equal(await name([r0(), older]), 'zz');
  assert.equal(await name([r0(), twin]), 'b');
  assert.equal(await name([leaving, r0()]), 'weather');
  assert.equal(await name([leaving]), 'old');
});

const { uid: ownerUid = '' } = replicaSet('weather-agent').metadata;
const clean = { metadata: { labels: { app: 'weather-agent' } }, spec: { containers: [{ name: 'agent' }] } };
const marked = { ...clean, metadata: { annotations: { 'rossoctl.io/injected': 'envoy-proxy' } } };
const ours = { ...clean, spec: { ...clean.spec, initContainers: [{ name: 'envoy-proxy' }] } };

/** What holds the template of a pod of that kind of owner; a StatefulSet’s is in a revision. */
function holder(kind: string, template: object | undefined, uid = ownerUid): KubeObject {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
  if (kind !== 'StatefulSet') {
    return { apiVersion, kind, metadata: { namespace: 'team1', name: 'owner', uid }, spec: { template } } as KubeObject;
  }
  const ownerReferences = [{ apiVersion, kind, name: 'owner', uid, controller: true }];
  const metadata = { namespace: 'team1', name: 'owner-r2', uid: 'revision', ownerReferences };
  return { apiVersion, kind: 'ControllerRevision', metadata, data: { spec: { template } } } as KubeObject;
}
const account = (name: string) => `system:serviceaccount:kube-system:${name}`;
const replicas = account('replicaset-controller');
const stateful = account('statefulset-controller');

const origins: readonly (readonly [what: string, kind: string, held: KubeObject, user: string, isAdded: boolean])[] = [
  ['a ReplicaSet’s clean template', 'ReplicaSet', holder('ReplicaSet', clean), replicas, true],
  ['one account for all', 'ReplicaSet', holder('ReplicaSet', clean), 'system:kube-controller-manager', true],
  ['a person’s pod under the same owner', 'ReplicaSet', holder('ReplicaSet', clean), 'alice', false],
  ['another controller’s account', 'ReplicaSet', holder('ReplicaSet', clean), account('job-controller'), false],
  ['a template with our marker', 'ReplicaSet', holder('ReplicaSet', marked), replicas, false],
  ['a template with a container of our name', 'ReplicaSet', holder('ReplicaSet', ours), replicas, false],
  ['a namesake of the owner', 'ReplicaSet', holder('ReplicaSet', clean, 'other'), replicas, false],
  ['no template', 'ReplicaSet', holder('ReplicaSet', undefined), replicas, false],
  ['a template of another shape', 'ReplicaSet', holder('ReplicaSet', { spec: {} }), replicas, false],
  ['a DaemonSet', 'DaemonSet', holder('DaemonSet', clean), account('daemon-set-controller'), true],
  ['a Job', 'Job', holder('Job', clean), account('job-controller'), true],
  ['a StatefulSet’s revision', 'StatefulSet', holder('StatefulSet', clean), stateful, true],
  ['a StatefulSet’s revision with our containers', 'StatefulSet', holder('StatefulSet', ours), stateful, false],
  ['a revision of another StatefulSet', 'StatefulSet', holder('StatefulSet', clean, 'other'), stateful, false],
  ['an owner of no kind that makes pods', 'Widget', holder('ReplicaSet', clean), replicas, false],
];
for (const [what, kind, held, user, isAdded] of origins) {
  test(`PM-03 who put our containers into a pod: ${what}`, async () => {
    const pod = injectedPod();
    const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
    const owner = { apiVersion, kind, name: 'owner', uid: ownerUid, controller: true };
    const labels = { ...pod.metadata.labels, 'controller-revision-hash': 'owner-r2' };
    const asked = { ...pod, metadata: { ...pod.metadata, labels, ownerReferences: [owner] } };
    const { given } = sources([namespace, csiDriver], [held]);
    assert.equal((await gather(request(asked, { user }), given)).isAddedAtAdmission, isAdded);
  });
}

test('a template that cannot be read denies; that of a pod without our containers is not read', async () => {
  const { given, requests } = sources(warm, new Error('connection refused'));
  const user = replicas;
  await assert.rejects(gather(request(injectedPod(), { user }), given), /connection refused/);
  requests.length = 0;
  assert.equal((await gather(request(p0(), { user }), given)).isAddedAtAdmission, false);
  assert.deepEqual(requests, []);
});

test('the webhook stands at its path and judges Pods', () => {
  const webhook = createAuthBridgeWebhook(sources([], []).given);
  assert.deepEqual(
    [webhook.name, webhook.path, webhook.kind],
    ['inject.rossoctl.io', '/mutate-workloads-authbridge', kinds.pod],
  );
});
