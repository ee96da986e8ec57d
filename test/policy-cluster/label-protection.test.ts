/** The scenario table for `agent-label-protection`, on a real API server: every kind, every place, every way of writing. */

import assert from 'node:assert/strict';
import test, { after, before, describe } from 'node:test';
import type { Kube } from './kube.ts';
import { developer, makeNamespace, operator, type PolicyBed, startPolicyBed } from './policy-bed.ts';
import { labelled, typeLabel, type Value, workloadKinds } from './workloads.ts';
import { allowed, mergePatch, refused, urlOf, writersTo } from './writers.ts';

let bed: PolicyBed;
let kube: Kube;
const writers = writersTo(() => kube);
before(async () => {
  bed = await startPolicyBed();
  kube = bed.kube;
});
after(() => bed.close());

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

    for (const [how, write] of Object.entries(writers.ways)) {
      const slug = how.replaceAll(/\W/g, '').toLowerCase();
      const everywhere = (value: Value) => Object.fromEntries(places.map((place) => [place, value]));

      test(`${kind.kind}, ${how}: adding the label is refused at each place and at all`, async () => {
        const target = await writers.make(kind, namespace, `add-${slug}`);
        for (const place of places) refused(await write(target, { [place]: 'agent' }, developer), 'agent');
        refused(await write(target, everywhere('agent'), developer), 'agent');
      });

      test(`${kind.kind}, ${how}: re-applying the same value passes, another value is refused`, async () => {
        const target = await writers.make(kind, namespace, `change-${slug}`);
        await writers.enrol(target);
        allowed(await write(target, everywhere('agent'), developer));
        for (const place of places) {
          const answer = await write(target, { ...everywhere('agent'), [place]: 'tool' }, developer);
          refused(answer, 'tool');
          assert.match(answer.message, /from agent to tool/);
        }
        refused(await write(target, everywhere('tool'), developer), 'tool');
      });

      test(`${kind.kind}, ${how}: leaving the label out is allowed`, async () => {
        const target = await writers.make(kind, namespace, `remove-${slug}`);
        await writers.enrol(target);
        allowed(await write(target, everywhere(undefined), developer));
      });
    }

    test(`${kind.kind}: any other change of an enrolled workload passes`, async () => {
      const target = await writers.make(kind, namespace, 'other');
      await writers.enrol(target);
      allowed(await writers.patch(target, { metadata: { annotations: { 'example.test/note': 'x' } } }, developer));
    });

    test(`${kind.kind}: the label cannot come in by a write to status`, async () => {
      const target = await writers.make(kind, namespace, 'status');
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

describe('what a refusal says', () => {
  const [kind] = workloadKinds;
  assert.ok(kind);
  const collection = urlOf(kind, 'words');
  const create = async (value: string) => {
    const object = labelled(kind.make('odd'), kind.places['metadata'] ?? [], value);
    return (await kube.request('POST', collection, object, { who: developer })).message;
  };
  before(() => makeNamespace(kube, 'words'));

  test('a type is repeated as the one to ask for', async () => {
    assert.match(
      await create('tool'),
      /create an AgentRuntime with spec\.type tool whose targetRef names this Deployment$/,
    );
  });

  for (const value of ['Agent', 'yes', '']) {
    test(`${JSON.stringify(value)} is not: agent and tool are the only types`, async () => {
      const message = await create(value);
      assert.match(
        message,
        /with spec\.type agent or tool \(there is no other type\) whose targetRef names this Deployment$/,
      );
    });
  }

  test('so is a change to one', async () => {
    const target = await writers.make(kind, 'words', 'changed');
    await writers.enrol(target);
    const { message } = await writers.patch(target, mergePatch(kind, { metadata: 'Agent' }), developer);
    assert.match(
      message,
      /from agent to Agent by hand: set spec\.type to agent or tool \(there is no other type\) in the .* names this Deployment$/,
    );
  });

  const supported = 'Deployment, StatefulSet, DaemonSet, CronJob, or Job';
  for (const unsupported of workloadKinds.filter(({ kind }) => !supported.includes(kind))) {
    test(`${unsupported.kind} cannot be enrolled: what owns it can`, async () => {
      const object = labelled(unsupported.make('alone'), unsupported.places['metadata'] ?? [], 'agent');
      const { message } = await kube.request('POST', urlOf(unsupported, 'words'), object, { who: developer });
      const remedy = `whose targetRef names the workload that owns this ${unsupported.kind}; only a ${supported} can be enrolled`;
      assert.ok(message.includes(remedy), message);
      const target = await writers.make(unsupported, 'words', 'enrolled');
      await writers.enrol(target);
      const changed = await writers.patch(target, mergePatch(unsupported, { metadata: 'tool' }), developer);
      assert.ok(changed.message.includes('set spec.type to tool in the AgentRuntime'), changed.message);
      assert.ok(changed.message.includes(remedy), changed.message);
    });
  }

  for (const [copied, from] of [
    ['ReplicaSet', 'Deployment'],
    ['Job', 'CronJob'],
  ]) {
    test(`a ${copied} that a ${from} owns is enrolled by the ${from}`, async () => {
      const owned = workloadKinds.find(({ kind: each }) => each === copied) ?? assert.fail(copied);
      const owner = { apiVersion: 'any/v1', kind: from, name: 'weather', uid: 'u', controller: true };
      const object = labelled(owned.make('owned'), owned.places['metadata'] ?? [], 'tool');
      const metadata = { ...(object['metadata'] as object), ownerReferences: [owner] };
      const answer = await kube.request('POST', urlOf(owned, 'words'), { ...object, metadata }, { who: developer });
      refused(answer, 'tool');
      assert.match(
        answer.message,
        new RegExp(`names ${from} weather, which owns this ${copied}; where there is one already`),
      );
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
        allowed(await writers.patch(target, { metadata: { annotations: { a: 'b' } } }, developer));
        allowed(await writers.replace(target, developer, (live) => live));
        refused(await writers.patch(target, mergePatch(kind, { metadata: 'agent' }), developer), 'agent');
        await writers.enrol(target);
        allowed(await writers.patch(target, { metadata: { annotations: { a: 'c' } } }, developer));
      });
    }
  }
});
