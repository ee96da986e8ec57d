/** What is gathered about one card: which card counts, whose policy has the name, and what the configuration says. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { fieldManagers, managedBy, labels } from '../../../runtime/api/names.ts';
import type { ConfigMap, NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { configWatches, createLayerReader } from '../../../runtime/config/read.ts';
import type { KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { createMarked, type Marked } from '../../../runtime/network-policy/marked.ts';
import { observe } from '../../../runtime/network-policy/observe.ts';
import { networkPolicies } from '../../../runtime/network-policy/watch.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { createVerdicts } from '../../../runtime/workload/verdicts.ts';
import { namespaces } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, foreignPolicy, policy, workload } from './fixtures.ts';

const watches = configWatches('rossoctl-system');
const noFile = { current: { text: undefined, path: '/etc/x' }, subscribe: () => () => {} };

interface World {
  readonly cards: readonly AgentCard[];
  readonly policies?: readonly KubeObject[];
  readonly workloads?: readonly KubeObject[];
  readonly platform?: string;
  readonly namespace?: KubeObject;
}

function look(of: AgentCard, world: World, marked: Pick<Marked, 'has'> = createMarked()) {
  const { cards, policies = [], workloads = [], platform, namespace } = world;
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'rossoctl-system', name: 'rossoctl-platform-config', uid: 'p', resourceVersion: '1' },
    data: { 'config.yaml': platform ?? '' },
  };
  const reader = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [agentCards as Watch, cards],
      [networkPolicies as Watch, policies],
      [namespaces, namespace === undefined ? [] : [namespace]],
      [watches.platform as Watch, platform === undefined ? [] : [configMap]],
      ...workloadRows.map(({ watch, kind }): [Watch, readonly KubeObject[]] => [
        watch,
        workloads.filter((each) => each.kind === kind),
      ]),
    ]),
  );
  const layers = createLayerReader({
    watches,
    operatorNamespace: 'rossoctl-system',
    configFile: noFile,
    gatesFile: noFile,
  });
  return observe(of, reader, {
    layers,
    operatorNamespace: 'rossoctl-system',
    isAudit: false,
    verdicts: createVerdicts(),
    marked,
  });
}

const ofKind = (kind: string, name: string, apiVersion = 'apps/v1'): AgentCard =>
  card({ name, spec: { targetRef: { apiVersion, kind, name: 'weather' } } });

describe('observe', () => {
  test('the workload, its policy and those the card controls', () => {
    const mine = card();
    const old = policy({ name: 'old-signature-policy' });
    const seen = look(mine, {
      cards: [mine],
      policies: [policy(), old, foreignPolicy('other')],
      workloads: [workload().object],
    });
    assert.ok('found' in seen.target);
    assert.equal(seen.name, 'weather-signature-policy');
    assert.equal(seen.policy?.metadata.name, 'weather-signature-policy');
    assert.equal(seen.holder, undefined);
    assert.deepEqual(
      seen.own.map(({ metadata }) => metadata.name),
      ['weather-signature-policy', 'old-signature-policy'],
    );
    assert.equal(seen.counts, true);
    assert.equal(seen.isTerminating, false);
  });

  test('of several cards of one workload one counts: hand-made before generated, then the older; one being deleted never', () => {
    const generated = card({
      name: 'weather-deployment-card',
      labels: { [labels.managedBy]: managedBy },
      created: '2025-01-01T00:00:00Z',
    });
    const young = card({ name: 'young', created: '2026-01-01T00:00:02Z' });
    const old = card({ name: 'old', created: '2026-01-01T00:00:01Z' });
    const counts = (cards: readonly AgentCard[]) =>
      cards.filter((one) => look(one, { cards }).counts).map(({ metadata }) => metadata.name);
    assert.deepEqual(counts([generated, young, old]), ['old']);
    assert.deepEqual(counts([generated, young]), ['young']);
    assert.deepEqual(counts([generated, card({ name: 'leaving', deleted: true })]), ['weather-deployment-card']);
    assert.deepEqual(counts([card({ name: 'elsewhere', namespace: 'team2' }), generated]), [
      'elsewhere',
      'weather-deployment-card',
    ]);
  });

  test('workloads of one name: the Deployment’s policy has the plain name, whoever came first, the others’ end in their kind', () => {
    const cards = [
      ofKind('StatefulSet', 'a'),
      ofKind('DaemonSet', 'b'),
      ofKind('Deployment', 'z'),
      ofKind('Job', 'j', 'batch/v1'),
    ];
    const names = (among: readonly AgentCard[]) => among.map((one) => look(one, { cards: among }).name);
    assert.deepEqual(names(cards), [
      'weather-signature-policy-statefulset',
      'weather-signature-policy-daemonset',
      'weather-signature-policy',
      'weather-signature-policy-job',
    ]);
    assert.deepEqual(names(cards.slice(0, 2)), ['weather-signature-policy', 'weather-signature-policy-daemonset']);
    assert.deepEqual(names(cards.toReversed()).sort(), names(cards).sort());
    const elsewhere = card({ name: 'd', namespace: 'team2' });
    assert.equal(
      look(ofKind('StatefulSet', 'a'), { cards: [ofKind('StatefulSet', 'a'), elsewhere] }).name,
      'weather-signature-policy',
    );
  });

  test('a policy is held by another card while that is there, the very same', () => {
    const mine = card();
    const other = card({ name: 'other' });
    const policies = [policy({ card: other })];
    assert.equal(look(mine, { cards: [mine, other], policies }).holder?.metadata.name, 'other');
    assert.equal(look(mine, { cards: [mine], policies }).holder, undefined);
    assert.equal(look(mine, { cards: [mine, card({ name: 'other', uid: 'younger' })], policies }).holder, undefined);
    assert.equal(look(mine, { cards: [mine], policies: [policy()] }).holder, undefined);
  });

  test('a policy of an earlier target is awaited by the card that counts there, while it selects that workload’s pods', () => {
    const mine = card({ spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'storm' } } });
    const next = card({ name: 'next' });
    const policies = [policy()];
    const workloads = [workload().object];
    const awaited = (world: World) => [...look(mine, world).awaited];
    assert.deepEqual(awaited({ cards: [mine, next], policies, workloads }), ['weather-signature-policy']);
    assert.deepEqual(awaited({ cards: [mine], policies, workloads }), []);
    assert.deepEqual(awaited({ cards: [mine, next], policies, workloads: [] }), []);
    assert.deepEqual(awaited({ cards: [mine, card({ name: 'next', deleted: true })], policies, workloads }), []);
    const others = [workload('Deployment', { selector: { matchLabels: { app: 'x' } } }).object];
    assert.deepEqual(awaited({ cards: [mine, next], policies, workloads: others }), []);
    const namesake = [ofKind('StatefulSet', 'set'), ofKind('Deployment', 'first')];
    const sets = [workload('StatefulSet').object];
    assert.deepEqual(awaited({ cards: [mine, ...namesake], policies, workloads: sets }), []);
  });

  test('a card older than the schema has no target, and harms nobody', () => {
    const { spec: _, ...bare } = card();
    const seen = look(bare as AgentCard, { cards: [bare as AgentCard] });
    assert.deepEqual(seen.target, { unsupported: 'spec.targetRef is missing' });
  });

  test('settings come from the layers; a layer that was never good is a problem', () => {
    const mine = card();
    const settings = look(mine, { cards: [mine], platform: 'networkPolicy: {verifiedEgress: agents}' }).surroundings
      .settings;
    assert.equal(settings.verifiedEgress, 'agents');
    assert.equal(settings.dns.profile, 'default');
    assert.equal(look(mine, { cards: [mine], platform: 'networkPolicy: {verifiedEgress: x}' }).problems.length, 1);
  });

  test('a namespace that ends is seen', () => {
    const mine = card();
    const namespace: KubeObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team1', deletionTimestamp: 'now' },
    };
    assert.equal(look(mine, { cards: [mine], namespace }).isTerminating, true);
  });
});

test('of policies of others only that they are there, and for which pods, is kept', () => {
  const keep = (of: NetworkPolicy) => networkPolicies.keep?.(of);
  const foreign = {
    ...foreignPolicy(),
    metadata: { ...foreignPolicy().metadata, annotations: { big: 'x' }, labels: { a: 'b' } },
  };
  assert.deepEqual(Object.keys(keep(foreign) ?? {}), ['apiVersion', 'kind', 'metadata', 'spec']);
  assert.deepEqual(keep(foreign)?.spec, { podSelector: foreign.spec?.podSelector });
  assert.deepEqual(Object.keys(keep(foreign)?.metadata ?? {}), ['name', 'namespace', 'uid', 'resourceVersion']);
  assert.deepEqual(keep(policy()), policy());
  const managedFields = [
    { manager: 'kubectl', operation: 'Update', fieldsV1: {} },
    { manager: fieldManagers.networkPolicy, operation: 'Apply', fieldsV1: {}, time: 'now' },
  ] as const;
  const marked = keep({ ...foreign, metadata: { ...foreign.metadata, managedFields } });
  assert.deepEqual(marked?.metadata.managedFields, [{ manager: fieldManagers.networkPolicy, operation: 'Apply' }]);
  assert.deepEqual(marked.spec, foreign.spec);
});

test('a policy that had our mark is ours as long as it lives, whoever takes the record away; no other becomes so', () => {
  const keep = (of: NetworkPolicy) => networkPolicies.keep?.(of) ?? of;
  const marked = createMarked();
  const tell = (change: { readonly old?: NetworkPolicy; readonly now?: NetworkPolicy }) =>
    assert.deepEqual(marked.trigger.affects(change, readerOf(new Map())), []);
  const thief = card({ name: 'thief' });
  const { managedFields: _, ...metadata } = policy({ card: thief }).metadata;
  const stripped = keep({ ...policy(), metadata });
  const seen = () => look(card(), { cards: [card(), thief], policies: [stripped] }, marked);
  assert.equal(seen().isOurs, false);
  tell({ now: policy() });
  tell({ old: policy(), now: stripped });
  assert.equal(seen().isOurs, true);
  assert.equal(seen().holder, undefined);
  const namesake = { ...stripped, metadata: { ...stripped.metadata, uid: 'another' } };
  assert.equal(marked.has(namesake), false);
  tell({ old: stripped, now: namesake });
  assert.equal(seen().isOurs, false);
  tell({ now: policy() });
  tell({ old: policy() });
  assert.equal(seen().isOurs, false);
});
