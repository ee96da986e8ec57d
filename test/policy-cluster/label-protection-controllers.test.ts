/** Kubernetes' own controllers beside the label policy: they copy what was checked, and nothing else. */

import assert from 'node:assert/strict';
import test, { after, before, describe } from 'node:test';
import { eventually, type Kube } from './kube.ts';
import { kubectl } from './kubectl.ts';
import { developer, makeNamespace, type PolicyBed, startPolicyBed } from './policy-bed.ts';
import { labelled, typeLabel, type WorkloadKind, workloadKinds } from './workloads.ts';
import { allowed, refused, urlOf, withLabels, writersTo } from './writers.ts';

let bed: PolicyBed;
let kube: Kube;
const writers = writersTo(() => kube);
before(async () => {
  bed = await startPolicyBed();
  kube = bed.kube;
});
after(() => bed.close());

describe("Kubernetes' own controllers", () => {
  before(() => makeNamespace(kube, 'controllers'));
  const kindNamed = (name: string): WorkloadKind => {
    const found = workloadKinds.find(({ kind }) => kind === name);
    if (found === undefined) throw new Error(`no kind ${name}`);
    return found;
  };
  const labelledBy = (url: string) => `${url}?labelSelector=${encodeURIComponent(`${typeLabel}=agent`)}`;
  const listed = async (url: string): Promise<number> => {
    const { body } = await kube.request('GET', url.includes('?') ? url : labelledBy(url));
    return (body['items'] as readonly unknown[]).length;
  };
  const until = (url: string, count: number, timeoutMs?: number) =>
    eventually(async () => {
      const found = await listed(url);
      return found >= count ? undefined : `${found} of ${count} at ${url}`;
    }, timeoutMs);

  test('the Deployment controller makes ReplicaSets and pods of an enrolled Deployment, and rolls them', async () => {
    const target = await writers.make(kindNamed('Deployment'), 'controllers', 'weather');
    await writers.enrol(target);
    allowed(await writers.patch(target, { spec: { replicas: 2 } }, developer));
    await until('/apis/apps/v1/namespaces/controllers/replicasets', 1);
    await until('/api/v1/namespaces/controllers/pods', 2);
    const restart = { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } };
    allowed(await writers.patch(target, { spec: restart }, developer));
    await until('/apis/apps/v1/namespaces/controllers/replicasets', 2);
  });

  for (const account of ['system:serviceaccount:kube-system:cronjob-controller', 'system:kube-controller-manager']) {
    test(`a Job copied from an enrolled CronJob by ${account} is allowed`, async () => {
      const kind = kindNamed('Job');
      const name = account.endsWith('manager') ? 'run-2' : 'run-1';
      const job = withLabels(kind, kind.make(name), { metadata: 'agent', 'pod template': 'agent' });
      allowed(await kube.request('POST', urlOf(kind, 'controllers'), job, { who: { user: account } }));
    });
  }

  test('those accounts are exempt for what they copy and for nothing else', async () => {
    const deployment = kindNamed('Deployment');
    const object = labelled(deployment.make('sneaky'), deployment.places['metadata'] ?? [], 'agent');
    for (const controller of ['cronjob-controller', 'deployment-controller', 'replicaset-controller']) {
      const who = { user: `system:serviceaccount:kube-system:${controller}` };
      refused(await kube.request('POST', urlOf(deployment, 'controllers'), object, { who }), 'agent');
    }
  });

  test('the CronJob controller runs an enrolled CronJob', { timeout: 600_000 }, async () => {
    await makeNamespace(kube, 'nightly');
    const kind = kindNamed('CronJob');
    const target = await writers.make(kind, 'nightly', 'nightly');
    await writers.enrol(target);
    allowed(await writers.patch(target, { spec: { schedule: '* * * * *' } }, developer));
    await until('/apis/batch/v1/namespaces/nightly/jobs', 1, 90_000);
  });

  test('a person’s copy of an enrolled CronJob is a label set by hand', async () => {
    const target = await writers.make(kindNamed('CronJob'), 'controllers', 'copied');
    await writers.enrol(target);
    const args = ['-n', 'controllers', 'create', 'job', 'by-hand', '--from=cronjob/copied'];
    const ran = await kubectl(bed.plane, args);
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /rossoctl\.io\/type=agent on the metadata may not be set by hand: create an AgentRuntime/);
  });

  test('rolling back to a revision before enrolment passes; the operator labels it again', async () => {
    const target = await writers.make(kindNamed('Deployment'), 'controllers', 'undone');
    await until('/apis/apps/v1/namespaces/controllers/replicasets?labelSelector=app%3Dundone', 1);
    await writers.enrol(target);
    await until('/apis/apps/v1/namespaces/controllers/replicasets?labelSelector=app%3Dundone', 2);
    const ran = await kubectl(bed.plane, ['-n', 'controllers', 'rollout', 'undo', 'deployment/undone']);
    assert.equal(ran.code, 0, ran.stderr);
  });

  test('a pod with the label by hand is not the policy’s business: the webhook gives it nothing (PM-16)', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare', labels: { [typeLabel]: 'agent' } },
      spec: { containers: [{ name: 'c', image: 'example.test/agent:1' }] },
    };
    allowed(await kube.request('POST', '/api/v1/namespaces/controllers/pods', pod, { who: developer }));
  });

  for (const policy of ['agent-label-protection', 'signature-label-protection']) {
    test(`${policy} type-checks on every kind it matches`, async () => {
      const url = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${policy}`;
      await eventually(async () => {
        const { body } = await kube.request('GET', url);
        const status = body['status'] as { typeChecking?: { expressionWarnings?: readonly unknown[] } } | undefined;
        if (status?.typeChecking === undefined) return 'not type-checked yet';
        assert.deepEqual(status.typeChecking.expressionWarnings ?? [], []);
        return undefined;
      });
    });
  }
});
