/** What the discovery of agents reads, who counts as having written into a card, and which changes wake which workload. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { appliedOverBy } from '../../../runtime/agent-card-sync/applied-over.ts';
import { createAgentCardSyncControllers } from '../../../runtime/agent-card-sync/controller.ts';
import { observe } from '../../../runtime/agent-card-sync/observe.ts';
import { cardTrigger } from '../../../runtime/agent-card-sync/triggers.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { fieldManagers, generatedCardName } from '../../../runtime/api/names.ts';
import type { KubeObject, LiveReader, ManagedFields, ObjectKey, Watch } from '../../../runtime/engine/types.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { namespaces } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, generated, row, workloadObject } from './fixtures.ts';

const ours = fieldManagers.agentCardSync;
const at = (time: string, manager: string, fieldsV1: unknown, subresource = ''): ManagedFields => ({
  time,
  manager,
  operation: 'Update',
  subresource,
  fieldsV1,
});
const spec = { 'f:spec': { 'f:targetRef': {} } };
const marks = { 'f:annotations': { '.': {}, 'f:a': {} }, 'f:labels': { 'f:b': {} } };
const lastApplied = 'f:kubectl.kubernetes.io/last-applied-configuration';

const writers: readonly (readonly [situation: string, entries: readonly ManagedFields[], by: string | undefined])[] = [
  ['nobody', [], undefined],
  ['we alone', [at('1', ours, { ...spec, 'f:metadata': { 'f:labels': {} } })], undefined],
  [
    'the status by another of our controllers',
    [at('2', 'rossoctl-agent-card', { 'f:status': {} }, 'status')],
    undefined,
  ],
  ['a finalizer', [at('2', 'rossoctl', { 'f:metadata': { 'f:finalizers': {} } })], undefined],
  ['an owner', [at('2', 'rossoctl', { 'f:metadata': { 'f:ownerReferences': {} } })], undefined],
  ['a manifest', [at('1', ours, spec), at('2', 'argocd', spec)], 'argocd'],
  ['an annotation and a label by a policy engine', [at('2', 'kyverno', { 'f:metadata': marks })], undefined],
  ['an annotation by another part of the operator', [at('2', 'rossoctl', { 'f:metadata': marks })], undefined],
  [
    'kubectl apply, which finds its spec there already',
    [at('2', 'kubectl-client-side-apply', { 'f:metadata': { 'f:annotations': { [lastApplied]: {} } } })],
    'kubectl-client-side-apply',
  ],
  ['one member of the spec', [at('2', 'kubectl-edit', { 'f:spec': { 'f:syncPeriod': {} } })], 'kubectl-edit'],
  ['the last of several', [at('3', 'helm', spec), at('2', 'kubectl', spec)], 'helm'],
  ['an entry without fields', [{ manager: 'odd' }], undefined],
];
for (const [situation, entries, by] of writers) {
  test(`who wrote into a card: ${situation}`, () => assert.equal(appliedOverBy(entries, ours), by));
}

function live(answer: AgentCard | undefined) {
  const asked: ObjectKey[] = [];
  const reader: LiveReader = {
    get: async (_, key) => {
      asked.push(key);
      return answer as never;
    },
    list: async () => assert.fail('nothing is listed'),
  };
  return { reader, asked };
}

const cacheOf = (cards: readonly AgentCard[], namespace: KubeObject['metadata'] = { name: 'team1' }) =>
  readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [agentCards as unknown as Watch, cards],
      [namespaces, [{ apiVersion: 'v1', kind: 'Namespace', metadata: namespace }]],
    ]),
  );

async function observing(cards: readonly AgentCard[], answer?: AgentCard) {
  const { reader, asked } = live(answer);
  const { signal } = new AbortController();
  const gathering = { reader: cacheOf(cards), live: reader, signal };
  return { observed: await observe(workloadObject(), row(), gathering), asked };
}

test('nothing is read live but the card that is to be deleted, once', async () => {
  assert.deepEqual((await observing([])).asked, []);
  assert.deepEqual((await observing([generated()])).asked, []);
  const managedFields = [at('2', 'kubectl', spec)];
  const { observed, asked } = await observing([generated(), card()], generated({ managedFields }));
  assert.deepEqual(asked, [{ namespace: 'team1', name: 'weather-deployment-card' }]);
  assert.equal(observed.appliedOverBy, 'kubectl');
  assert.equal((await observing([generated(), card()], undefined)).observed.appliedOverBy, undefined);
});

test('cards are found by target and by name, in the workload’s namespace', async () => {
  const far = card({ namespace: 'team2' });
  const other = card({ name: 'weather-deployment-card' }, { targetRef: { apiVersion: 'v1', kind: 'X', name: 'x' } });
  const { observed } = await observing([far, other, card()]);
  assert.deepEqual(observed.cards, [card()]);
  assert.equal(observed.named, other);
  assert.equal(observed.isTerminating, false);
});

test('a namespace that is being deleted is seen', async () => {
  const reader = cacheOf([], { name: 'team1', deletionTimestamp: '2026-01-01T00:00:00Z' });
  const gathering = { reader, live: live(undefined).reader, signal: new AbortController().signal };
  assert.equal((await observe(workloadObject(), row(), gathering)).isTerminating, true);
});

const long = 'w'.repeat(250);
const ofLong = card(
  { name: generatedCardName('Deployment', long) },
  { targetRef: { apiVersion: 'v1', kind: 'X', name: 'x' } },
);
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const wakes: readonly (readonly [
  change: string,
  old: AgentCard | undefined,
  now: AgentCard | undefined,
  names: readonly string[],
])[] = [
  ['one that appears', undefined, card(), ['weather']],
  ['one that vanishes', card(), undefined, ['weather']],
  ['one that moves', card(), card({}, { targetRef: { ...card().spec.targetRef, name: 'news' } }), ['weather', 'news']],
  ['status alone', card(), { ...card({ resourceVersion: '8' }), status: { protocol: 'a2a' } }, []],
  ['another sync period', card(), card({}, { syncPeriod: '1m' }), []],
  ['an owner that is taken away', generated(), generated({ ownerReferences: [] }), ['weather']],
  ['our label that is taken away', generated(), generated({ labels: {} }), ['weather']],
  ['one of another kind', undefined, card({}, { targetRef: statefulSet }), []],
  [
    'one with the generated name of another workload',
    undefined,
    card({ name: 'news-deployment-card' }),
    ['weather', 'news'],
  ],
  ['one with a name that was cut', undefined, ofLong, [long]],
  ['one without a spec, older than the schema', undefined, { ...card(), spec: undefined } as never, []],
];
for (const [change, old, now, names] of wakes) {
  test(`which workloads a changed card wakes: ${change}`, () => {
    const reader = readerOf(new Map([[row().watch, [workloadObject({ name: long }), workloadObject()]]]));
    const woken = cardTrigger(row()).affects({ old, now }, reader);
    assert.deepEqual(
      woken.map(({ name }) => name),
      names,
    );
  });
}

test('one controller a kind that serves a card while it runs', () => {
  const controllers = createAgentCardSyncControllers();
  assert.deepEqual(
    controllers.map(({ name, fieldManager, primary }) => [name, fieldManager, primary.id]),
    [
      ['agentcardsync-deployment', ours, 'deployments'],
      ['agentcardsync-statefulset', ours, 'statefulsets'],
      ['agentcardsync-orphans', ours, 'agentcards'],
    ],
  );
});
