/** `signature-label-protection` on a real API server: no verdict on a pod, a workload or a template but the operator's own. */

import assert from 'node:assert/strict';
import test, { after, before, describe } from 'node:test';
import { type Answer, eventually, type Json, type Kube, type Who } from './kube.ts';
import { developer, makeNamespace, operator, type PolicyBed, startPolicyBed } from './policy-bed.ts';
import { labelled, type Value, verifiedLabel, workloadKinds } from './workloads.ts';
import { allowed, refused as refusedBy, urlOf, writersTo } from './writers.ts';

let bed: PolicyBed;
let kube: Kube;
const writers = writersTo(() => kube, verifiedLabel);
before(async () => {
  bed = await startPolicyBed();
  kube = bed.kube;
});
after(() => bed.close());

const refused = (answer: Answer) =>
  refusedBy(
    answer,
    `${verifiedLabel}=true`,
    /leave it out, the operator sets it on pods whose signature it has verified/,
  );
const withVerdict = (object: Json, path: readonly string[]) => labelled(object, path, 'true', verifiedLabel);

for (const kind of workloadKinds) {
  describe(kind.kind, () => {
    const namespace = `verdict-${kind.kind.toLowerCase()}`;
    const places = Object.entries(kind.places);
    before(() => makeNamespace(kube, namespace));

    for (const [place, path] of places) {
      test(`created with a verdict on its ${place} is refused, to controllers too`, async () => {
        const object = withVerdict(kind.make('claimed'), path);
        for (const user of [developer.user, 'system:kube-controller-manager']) {
          refused(await kube.request('POST', urlOf(kind, namespace), object, { who: { user } }));
        }
      });
    }

    for (const [how, write] of Object.entries(writers.ways)) {
      const slug = how.replaceAll(/\W/g, '').toLowerCase();
      const everywhere = (value: Value) => Object.fromEntries(places.map(([place]) => [place, value]));

      test(`${how}: adding a verdict is refused at each place`, async () => {
        const target = await writers.make(kind, namespace, `add-${slug}`);
        for (const [place] of places) refused(await write(target, { [place]: 'true' }, developer));
      });

      test(`${how}: the operator's verdict stays through other writes, and anyone may take it away`, async () => {
        const target = await writers.make(kind, namespace, `keep-${slug}`);
        allowed(await write(target, everywhere('true'), operator));
        allowed(await write(target, everywhere('true'), developer));
        allowed(await write(target, everywhere(undefined), developer));
      });
    }

    test('a verdict cannot come in by a write to status', async () => {
      const target = await writers.make(kind, namespace, 'status');
      const url = `${urlOf(kind, namespace)}/${target.name}`;
      await patch(`${url}/status`, withVerdict({}, ['metadata', 'labels']), developer);
      assert.equal(await verdictOf(url), undefined);
    });
  });
}

const pods = '/api/v1/namespaces/verdict-pods/pods';
const pod = (name: string, extra: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'example.test/agent:1' }], ...extra },
});
const own = ['metadata', 'labels'];

const patch = (url: string, body: Json, who: Who) =>
  kube.request('PATCH', url, body, { who, contentType: 'application/merge-patch+json' });

async function verdictOf(url: string): Promise<string | undefined> {
  const { body } = await kube.request('GET', url);
  return (body['metadata'] as { labels?: Record<string, string> }).labels?.[verifiedLabel];
}

describe('Pod', () => {
  before(async () => {
    await makeNamespace(kube, 'verdict-pods');
    await eventually(async () => {
      const { code } = await kube.request('GET', '/api/v1/namespaces/verdict-pods/serviceaccounts/default');
      return code === 200 ? undefined : 'the namespace has no account yet';
    });
  });
  const make = async (name: string) => {
    allowed(await kube.request('POST', pods, pod(name), { who: developer }));
    return `${pods}/${name}`;
  };

  test('created with a verdict is refused, to controllers too', async () => {
    for (const user of [developer.user, 'system:serviceaccount:kube-system:replicaset-controller']) {
      refused(await kube.request('POST', pods, withVerdict(pod('claimed'), own), { who: { user } }));
    }
  });

  test('the operator gives and takes a verdict; nobody else gives one, and anyone takes it', async () => {
    const url = await make('judged');
    const verdict = withVerdict({}, own);
    refused(await patch(url, verdict, developer));
    allowed(await patch(url, verdict, operator));
    assert.equal(await verdictOf(url), 'true');
    allowed(await patch(url, { metadata: { annotations: { a: 'b' } } }, developer));
    allowed(await patch(url, labelled({}, own, null as unknown as string, verifiedLabel), developer));
    assert.equal(await verdictOf(url), undefined);
    refused(await patch(url, verdict, developer));
  });

  test('the kubelet reports on a pod with a verdict', async () => {
    const url = await make('running');
    allowed(await patch(url, withVerdict({}, own), operator));
    allowed(await patch(`${url}/status`, { status: { phase: 'Running' } }, { user: 'system:node:a' }));
    assert.equal(await verdictOf(url), 'true');
  });

  test('a verdict cannot come in by a write to status', async () => {
    const url = await make('by-status');
    refused(await patch(`${url}/status`, withVerdict({ status: { message: 'x' } }, own), developer));
    assert.equal(await verdictOf(url), undefined);
  });

  for (const [subresource, change] of Object.entries<Json>({
    ephemeralcontainers: { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } },
    resize: { spec: { containers: [{ name: 'c', image: 'example.test/agent:1' }] } },
  })) {
    test(`${subresource} drops labels, so no verdict comes in by it`, async () => {
      const url = await make(`by-${subresource}`);
      allowed(await patch(`${url}/${subresource}`, withVerdict(change, own), developer));
      assert.equal(await verdictOf(url), undefined);
    });
  }

  test('a verdict cannot come in by the binding to a node', async () => {
    const url = await make('bound');
    const target = { apiVersion: 'v1', kind: 'Node', name: 'a' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target };
    for (const at of [`${url}/binding`, '/api/v1/namespaces/verdict-pods/bindings']) {
      refused(await kube.request('POST', at, withVerdict(binding, own), { who: developer }));
    }
    allowed(await kube.request('POST', `${url}/binding`, binding, { who: { user: 'system:kube-scheduler' } }));
    assert.equal(await verdictOf(url), undefined);
  });

  test('no access can fail: a pod without labels is made, changed and deleted', async () => {
    const url = await make('bare');
    allowed(await patch(url, { metadata: { labels: { a: 'b' } } }, developer));
    allowed(await kube.request('DELETE', url, undefined, { who: developer }));
  });
});
