/** Discovery beside a real API server: cards appear, yield, are adopted, repaired and go; an idle operator writes nothing. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { textOf } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import {
  agent,
  handMade,
  inNamespace,
  type Operator,
  ours,
  ownerOf,
  startSyncBed,
  type SyncBed,
  workload,
} from './bed.ts';

let bed: SyncBed;
let operator: Operator;
before(async () => {
  bed = await startSyncBed('sync');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const generated = 'weather-deployment-card';

test('an enrolled Deployment and StatefulSet of one name get a card each, which they own', async () => {
  const ns = await inNamespace(bed, 'found');
  for (const kind of ['Deployment', 'StatefulSet'] as const) {
    const owner = await ns.create(kind, 'weather');
    const name = `weather-${kind.toLowerCase()}-card`;
    await eventually(() => ns.card(name));
    const { metadata, spec } = await ns.card(name);
    assert.deepEqual(spec, { targetRef: { apiVersion: 'apps/v1', kind, name: 'weather' } });
    assert.deepEqual(metadata.labels, {
      'app.kubernetes.io/managed-by': 'rossoctl-operator',
      'app.kubernetes.io/name': 'weather',
    });
    assert.deepEqual(metadata.ownerReferences, [ownerOf(owner)]);
    assert.deepEqual(
      metadata.managedFields?.map(({ manager }) => manager),
      [ours],
    );
  }
  await ns.wrote('create weather-deployment-card', 'create weather-statefulset-card');
});

test('only agents that say how they speak get one; the label may come later', async () => {
  const ns = await inNamespace(bed, 'others');
  await ns.create('Deployment', 'plain', {});
  await ns.create('Deployment', 'mute', { 'rossoctl.io/type': 'agent' });
  await ns.create('Deployment', 'tool', { ...agent, 'rossoctl.io/type': 'tool' });
  await ns.create('Deployment', 'agent');
  await ns.has('agent-deployment-card');
  await ns.label('Deployment', 'mute', { 'protocol.rossoctl.io/mcp': '' });
  await ns.has('agent-deployment-card', 'mute-deployment-card');
});

test('a card made by hand first is the workload’s card: none is generated', async () => {
  const ns = await inNamespace(bed, 'first');
  await ns.createCard('mine', 'weather');
  await ns.create('Deployment', 'weather');
  await eventually(() => operator.pass('Deployment', { namespace: ns.namespace, name: 'weather' }).then(() => true));
  assert.deepEqual(await ns.names(), ['mine']);
  await ns.wrote();
});

test('a card made by hand later replaces the generated one, and when it goes the generated one is back', async () => {
  const ns = await inNamespace(bed, 'later');
  await ns.create('Deployment', 'weather');
  await ns.has(generated);
  await ns.createCard('mine', 'weather', { syncPeriod: '1m' });
  await ns.has('mine');
  await eventually(async () => {
    const [event] = await ns.events();
    assert.match(event ?? '', /^CardWithdrawn: The generated AgentCard weather-deployment-card of Deployment weather/);
  });
  await ns.removeCard('mine');
  await ns.has(generated);
  await ns.wrote(`create ${generated}`, `delete ${generated}`, `create ${generated}`);
});

test('a generated card that a manifest was applied over is nobody’s to delete, and applying meets no conflict', async () => {
  const ns = await inNamespace(bed, 'over');
  await ns.create('Deployment', 'weather');
  await ns.has(generated);
  const body = handMade(ns.namespace, generated, 'weather', { syncPeriod: '1m' });
  await bed.client.apply({ kind: kinds.agentCard, body: { ...body } }, { fieldManager: 'gitops', force: false });
  await ns.createCard('mine', 'weather');
  await operator.pass('Deployment', { namespace: ns.namespace, name: 'weather' }, 2);
  await ns.label('Deployment', 'weather', { 'rossoctl.io/type': null });
  await operator.pass('Deployment', { namespace: ns.namespace, name: 'weather' }, 2);
  assert.deepEqual(await ns.names(), ['mine', generated]);
  assert.equal((await ns.card(generated)).spec.syncPeriod, '1m');
  await ns.wrote(`create ${generated}`);
  await eventually(async () => {
    const events = (await ns.events()).join('\n');
    for (const why of ['has an AgentCard of its own', 'is no agent']) {
      assert.match(
        events,
        new RegExp(`^CardNotWithdrawn: The workload ${why}.* because gitops has written its spec`, 'm'),
      );
    }
  });
});

test('what tools put on a generated card beside its spec keeps it from nothing', async () => {
  const ns = await inNamespace(bed, 'marked');
  await ns.create('Deployment', 'weather');
  await ns.has(generated);
  await ns.patchCard(generated, { metadata: { annotations: { 'kyverno.test/seen': '1' }, labels: { team: 'a' } } });
  await ns.label('Deployment', 'weather', { 'rossoctl.io/type': null });
  await ns.has();
  await ns.wrote(`create ${generated}`, `delete ${generated}`);
});

test('a card of the generated name that is not ours is adopted: neither written nor deleted', async () => {
  const ns = await inNamespace(bed, 'adopted');
  const theirs = await ns.createCard(generated, 'weather', { syncPeriod: '2m' });
  await ns.create('Deployment', 'weather');
  const key = { namespace: ns.namespace, name: 'weather' };
  await operator.pass('Deployment', key, 2);
  await ns.label('Deployment', 'weather', { 'protocol.rossoctl.io/a2a': null });
  await operator.pass('Deployment', key, 2);
  const { metadata } = await ns.card(generated);
  assert.equal(metadata.resourceVersion, theirs.metadata.resourceVersion);
  await ns.wrote();
});

test('an owner that was taken away is stated again, also that of a new workload of the name', async () => {
  const ns = await inNamespace(bed, 'owned');
  const first = await ns.create('StatefulSet', 'db');
  const name = 'db-statefulset-card';
  await ns.has(name);
  await ns.patchCard(name, { metadata: { ownerReferences: null } });
  await eventually(async () => assert.deepEqual((await ns.card(name)).metadata.ownerReferences, [ownerOf(first)]));

  await operator.stop();
  const { uid } = await ns.patchCard(name, { metadata: { ownerReferences: null } }).then(({ metadata }) => metadata);
  await ns.removeWorkload('StatefulSet', 'db');
  const second = await ns.create('StatefulSet', 'db');
  // Another owner keeps Kubernetes from deleting the card for the one that is no more.
  const backup = { apiVersion: 'v1', kind: 'ConfigMap', name: 'backup' };
  const made = await bed.client.create(kinds.configMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: ns.namespace, name: backup.name },
  });
  const other = { ...backup, uid: made.metadata.uid ?? '' };
  await ns.patchCard(name, { metadata: { ownerReferences: [ownerOf(first), other] } });
  operator = await bed.startOperator();
  await eventually(async () =>
    assert.deepEqual((await ns.card(name)).metadata.ownerReferences, [other, ownerOf(second)]),
  );
  assert.equal((await ns.card(name)).metadata.uid, uid, 'the same card');
});

test('a workload that is no agent any more loses its generated card', async () => {
  const ns = await inNamespace(bed, 'former');
  for (const name of ['a', 'b']) await ns.create('Deployment', name);
  await ns.has('a-deployment-card', 'b-deployment-card');
  await ns.label('Deployment', 'a', { 'protocol.rossoctl.io/a2a': null });
  await ns.label('Deployment', 'b', { 'rossoctl.io/type': null });
  await ns.has();
});

test('a workload that is deleted takes its generated card along, and no other', async () => {
  const ns = await inNamespace(bed, 'deleted');
  await ns.create('Deployment', 'weather');
  await ns.create('Deployment', 'news');
  await ns.createCard('mine', 'news');
  await ns.has(generated, 'mine');
  await ns.removeWorkload('Deployment', 'weather');
  await ns.removeWorkload('Deployment', 'news');
  // Kubernetes looks for new kinds to collect every half minute.
  await eventually(async () => assert.deepEqual(await ns.names(), ['mine']), 90_000);
});

test('a name that is taken is told once with what to do, and the card comes when the name is free', async () => {
  const ns = await inNamespace(bed, 'taken');
  await ns.createCard(generated, 'something-else');
  await ns.create('Deployment', 'weather');
  await eventually(async () => {
    const [event, ...others] = await ns.events();
    assert.match(
      event ?? '',
      /^CardNameTaken: Deployment weather gets no AgentCard, .*targets Deployment something-else/,
    );
    assert.deepEqual(others, []);
  });
  await ns.wrote();
  await ns.removeCard(generated);
  await ns.has(generated);
  assert.equal((await ns.card(generated)).spec.targetRef.name, 'weather');
});

test('nothing is made in a namespace that is being deleted', async () => {
  const ns = await inNamespace(bed, 'ending');
  await ns.create('Deployment', 'weather');
  await ns.has(generated);
  // Holds the workload, and with it the namespace, until the test lets go.
  const held = { kind: kinds.deployment, namespace: ns.namespace, name: 'weather' };
  await bed.client.mergePatch(held, { metadata: { finalizers: ['example.test/held'] } });
  await bed.client.remove({ kind: kinds.namespace, name: ns.namespace });
  await ns.has();
  await bed.client.mergePatch(held, { metadata: { labels: { a: 'b' } } });
  await operator.pass('Deployment', { namespace: ns.namespace, name: 'weather' }, 2);
  await ns.wrote(`create ${generated}`);
  await bed.client.mergePatch(held, { metadata: { finalizers: null } });
});

test('two operators at once make one card a workload; a restart and a hundred idle passes write nothing', async () => {
  const second = await bed.startOperator();
  const ns = await inNamespace(bed, 'many');
  const count = 30;
  const names = Array.from({ length: count }, (_, i) => `agent-${i}`);
  await Promise.all(
    names.map((name) => bed.client.create(kinds.deployment, workload('Deployment', ns.namespace, name) as never)),
  );
  await ns.has(...names.map((name) => `${name}-deployment-card`));
  // A create of theirs may still be under way, of a card that the other has made.
  await Promise.all([operator.stop(), second.stop()]);
  await bed.isLogged();
  const before = ns.writes().length;
  assert.ok(before >= count && before <= 2 * count, `${before} writes`);
  operator = await bed.startOperator();
  for (let i = 0; i < 100; i += 1) {
    await operator.pass('Deployment', { namespace: ns.namespace, name: names[i % count] ?? '' });
  }
  await bed.isLogged();
  assert.equal(ns.writes().length, before);
});

test('RB-02 all of it with the declared rights, which were all used, and without a pass that failed', () => {
  const requests = bed.audit.requests();
  const refused = requests.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(refused.map(textOf), []);
  assert.deepEqual(
    operator.log.lines.filter(({ message }) => message.startsWith('reconcile')),
    [],
  );
  const used = new Set(
    requests.filter(({ objectRef }) => objectRef?.resource === 'agentcards').map(({ verb }) => verb),
  );
  // Older API servers are asked for a list before the watch.
  assert.deepEqual([...used.add('list')].sort(), ['create', 'delete', 'get', 'list', 'patch', 'watch']);
});
