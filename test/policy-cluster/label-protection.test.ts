/** The seed's scenario table for `agent-label-protection`, on a real API server: every kind, every place, every way of writing. */

import assert from 'node:assert/strict';
import test, { after, before, describe } from 'node:test';
import { type Answer, eventually, type Json, type Kube, type Who } from './kube.ts';
import { developer, makeNamespace, operator, type PolicyBed, startPolicyBed } from './policy-bed.ts';
import { labelled, labelPatch, typeLabel, type Value, type WorkloadKind, workloadKinds } from './workloads.ts';

let bed: PolicyBed;
let kube: Kube;
before(async () => {
  bed = await startPolicyBed();
  kube = bed.kube;
});
after(() => bed.close());

const urlOf = (kind: WorkloadKind, namespace: string) => kind.collection.replace('NS', namespace);

interface Target {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** How a person or a tool writes the label at some places of an existing object. */
type Write = (target: Target, changes: Readonly<Record<string, Value>>, who: Who) => Promise<Answer>;

const writes: Readonly<Record<string, Write>> = {
  PUT: ({ kind, namespace, name }, changes, who) =>
    replaced(`${urlOf(kind, namespace)}/${name}`, who, (live) =>
      Object.entries(changes).reduce((next, [place, value]) => labelled(next, kind.places[place] ?? [], value), live),
    ),
  'server-side apply': ({ kind, namespace, name }, changes, who) => {
    let next = kind.make(name);
    for (const [place, value] of Object.entries(changes)) next = labelled(next, kind.places[place] ?? [], value);
    const url = `${urlOf(kind, namespace)}/${name}?fieldManager=gitops&force=true`;
    return kube.request('PATCH', url, next, { who, contentType: 'application/apply-patch+yaml' });
  },
  'merge patch': ({ kind, namespace, name }, changes, who) =>
    patch({ kind, namespace, name }, merged(kind, changes), who),
};

/** Read, change, write back; once more when a controller wrote in between, as any client does. */
async function replaced(url: string, who: Who, change: (live: Json) => Json): Promise<Answer> {
  for (;;) {
    const live = await kube.request('GET', url);
    const answer = await kube.request('PUT', url, change(live.body), { who });
    if (answer.code !== 409) return answer;
  }
}

function merged(kind: WorkloadKind, changes: Readonly<Record<string, Value>>): Json {
  return Object.entries(changes).reduce<Json>(
    (all, [place, value]) => deepMerge(all, labelPatch(kind.places[place] ?? [], value)),
    {},
  );
}

function deepMerge(a: Json, b: Json): Json {
  const both = Object.entries(b).map(([key, value]) => {
    const other = a[key];
    const isNested = typeof value === 'object' && value !== null && typeof other === 'object' && other !== null;
    return [key, isNested ? deepMerge(other as Json, value as Json) : value];
  });
  return { ...a, ...Object.fromEntries(both) };
}

function patch({ kind, namespace, name }: Target, body: Json, who: Who): Promise<Answer> {
  const url = `${urlOf(kind, namespace)}/${name}`;
  return kube.request('PATCH', url, body, { who, contentType: 'application/merge-patch+json' });
}

function refused(answer: Answer, value: string): void {
  assert.equal(answer.code, 403, answer.message);
  assert.match(answer.message, /AgentRuntime/);
  assert.ok(answer.message.includes(value), `${answer.message} names ${value}`);
}

function allowed(answer: Answer): void {
  assert.ok(answer.code === 200 || answer.code === 201, `${answer.code} ${answer.message}`);
}

async function made(kind: WorkloadKind, namespace: string, name: string): Promise<Target> {
  allowed(await kube.request('POST', urlOf(kind, namespace), kind.make(name), { who: developer }));
  return { kind, namespace, name };
}

/** The operator's own write: the label at every place. */
async function enrol(target: Target): Promise<void> {
  const everywhere = Object.fromEntries(Object.keys(target.kind.places).map((place) => [place, 'agent']));
  allowed(await patch(target, merged(target.kind, everywhere), operator));
}

describe('VP-05 VP-02 the scenario table', () => {
  for (const kind of workloadKinds) {
    const namespace = `table-${kind.kind.toLowerCase()}`;
    const places = Object.keys(kind.places);
    before(() => makeNamespace(kube, namespace));

    for (const place of places) {
      test(`${kind.kind}: created with the label on its ${place} is refused`, async () => {
        const object = labelled(kind.make('labelled'), kind.places[place] ?? [], 'agent');
        refused(await kube.request('POST', urlOf(kind, namespace), object, { who: developer }), 'agent');
        const url = `${urlOf(kind, namespace)}/labelled?fieldManager=gitops&force=true`;
        const contentType = 'application/apply-patch+yaml';
        refused(await kube.request('PATCH', url, object, { who: developer, contentType }), 'agent');
      });
    }

    test(`${kind.kind}: an empty value counts as a label`, async () => {
      const object = labelled(kind.make('empty'), kind.places['metadata'] ?? [], '');
      refused(await kube.request('POST', urlOf(kind, namespace), object, { who: developer }), typeLabel);
    });

    test(`${kind.kind}: the operator may create it labelled`, async () => {
      const object = places.reduce((all, place) => labelled(all, kind.places[place] ?? [], 'agent'), kind.make('ours'));
      allowed(await kube.request('POST', urlOf(kind, namespace), object, { who: operator }));
    });

    for (const [how, write] of Object.entries(writes)) {
      const slug = how.replaceAll(/\W/g, '').toLowerCase();
      const everywhere = (value: Value) => Object.fromEntries(places.map((place) => [place, value]));

      test(`${kind.kind}, ${how}: adding the label is refused at each place and at all`, async () => {
        const target = await made(kind, namespace, `add-${slug}`);
        for (const place of places) refused(await write(target, { [place]: 'agent' }, developer), 'agent');
        refused(await write(target, everywhere('agent'), developer), 'agent');
      });

      test(`${kind.kind}, ${how}: re-applying the same value passes, another value is refused`, async () => {
        const target = await made(kind, namespace, `change-${slug}`);
        await enrol(target);
        allowed(await write(target, everywhere('agent'), developer));
        for (const place of places) {
          const answer = await write(target, { ...everywhere('agent'), [place]: 'tool' }, developer);
          refused(answer, 'tool');
          assert.match(answer.message, /from agent to tool/);
        }
        refused(await write(target, everywhere('tool'), developer), 'tool');
      });

      test(`${kind.kind}, ${how}: leaving the label out is allowed`, async () => {
        const target = await made(kind, namespace, `remove-${slug}`);
        await enrol(target);
        allowed(await write(target, everywhere(undefined), developer));
      });
    }

    test(`${kind.kind}: any other change of an enrolled workload passes`, async () => {
      const target = await made(kind, namespace, 'other');
      await enrol(target);
      allowed(await patch(target, { metadata: { annotations: { 'example.test/note': 'x' } } }, developer));
    });

    test(`${kind.kind}: the label cannot come in by a write to status`, async () => {
      const target = await made(kind, namespace, 'status');
      const url = `${urlOf(kind, namespace)}/status/status`;
      const contentType = 'application/merge-patch+json';
      await kube.request(
        'PATCH',
        url,
        { metadata: { labels: { [typeLabel]: 'agent' } } },
        { who: developer, contentType },
      );
      const { body } = await kube.request('GET', `${urlOf(kind, namespace)}/${target.name}`);
      assert.equal((body['metadata'] as { labels?: Record<string, string> }).labels?.[typeLabel], undefined);
    });
  }
});

describe('VP-01 absent labels never fail', () => {
  before(() => makeNamespace(kube, 'bare'));
  for (const kind of workloadKinds) {
    for (const [how, labels] of [
      ['no labels', undefined],
      ['empty labels', {}],
    ] as const) {
      test(`${kind.kind} with ${how}: create, update and enrol`, async () => {
        const name = `bare-${labels === undefined ? 'none' : 'empty'}`;
        const object = kind.make(name);
        const bare = { ...object, metadata: { name, ...(labels === undefined ? {} : { labels }) } };
        const target = { kind, namespace: 'bare', name };
        allowed(await kube.request('POST', urlOf(kind, 'bare'), bare, { who: developer }));
        allowed(await patch(target, { metadata: { annotations: { a: 'b' } } }, developer));
        allowed(await replaced(`${urlOf(kind, 'bare')}/${name}`, developer, (live) => live));
        refused(await patch(target, merged(kind, { metadata: 'agent' }), developer), 'agent');
        await enrol(target);
        allowed(await patch(target, { metadata: { annotations: { a: 'c' } } }, developer));
      });
    }
  }
});

describe("Kubernetes' own controllers", () => {
  before(() => makeNamespace(kube, 'controllers'));
  const kindNamed = (name: string): WorkloadKind => {
    const found = workloadKinds.find(({ kind }) => kind === name);
    if (found === undefined) throw new Error(`no kind ${name}`);
    return found;
  };
  const listed = async (url: string): Promise<number> => {
    const { body } = await kube.request('GET', `${url}?labelSelector=${encodeURIComponent(`${typeLabel}=agent`)}`);
    return (body['items'] as readonly unknown[]).length;
  };
  const until = (url: string, count: number, timeoutMs?: number) =>
    eventually(async () => {
      const found = await listed(url);
      return found >= count ? undefined : `${found} of ${count} labelled at ${url}`;
    }, timeoutMs);

  test('the Deployment controller makes ReplicaSets and pods of an enrolled Deployment, and rolls them', async () => {
    const target = await made(kindNamed('Deployment'), 'controllers', 'weather');
    await enrol(target);
    allowed(await patch(target, { spec: { replicas: 2 } }, developer));
    await until('/apis/apps/v1/namespaces/controllers/replicasets', 1);
    await until('/api/v1/namespaces/controllers/pods', 2);
    const restart = { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } };
    allowed(await patch(target, { spec: restart }, developer));
    await until('/apis/apps/v1/namespaces/controllers/replicasets', 2);
  });

  for (const account of ['system:serviceaccount:kube-system:cronjob-controller', 'system:kube-controller-manager']) {
    test(`a Job copied from an enrolled CronJob by ${account} is allowed`, async () => {
      const kind = kindNamed('Job');
      const name = account.endsWith('manager') ? 'run-2' : 'run-1';
      const job = labelled(
        labelled(kind.make(name), kind.places['metadata'] ?? [], 'agent'),
        kind.places['pod template'] ?? [],
        'agent',
      );
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

  test('the CronJob controller runs an enrolled CronJob', { timeout: 100_000 }, async () => {
    await makeNamespace(kube, 'nightly');
    const kind = kindNamed('CronJob');
    const target = await made(kind, 'nightly', 'nightly');
    await enrol(target);
    allowed(await patch(target, { spec: { schedule: '* * * * *' } }, developer));
    await until('/apis/batch/v1/namespaces/nightly/jobs', 1, 90_000);
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

  test('the policy type-checks on every kind it matches', async () => {
    const url = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/agent-label-protection';
    await eventually(async () => {
      const { body } = await kube.request('GET', url);
      const status = body['status'] as { typeChecking?: { expressionWarnings?: readonly unknown[] } } | undefined;
      if (status?.typeChecking === undefined) return 'not type-checked yet';
      assert.deepEqual(status.typeChecking.expressionWarnings ?? [], []);
      return undefined;
    });
  });
});
