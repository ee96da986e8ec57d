/** Which cards a change concerns, and which changes concern none. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createAgentCardController } from '../../../runtime/agent-card/controller.ts';
import { verifiedPods } from '../../../runtime/agent-card/bearers.ts';
import { triggers } from '../../../runtime/agent-card/triggers.ts';
import { trustBundleWatch } from '../../../runtime/agent-card/trust-bundle.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { configWatches } from '../../../runtime/config/read.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { Change, KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { rowOf } from '../../../runtime/workload/kinds.ts';
import { noVerification } from '../../../runtime/operator/verification-options.ts';
import { createVerdicts } from '../../../runtime/workload/verdicts.ts';
import { enrolledPods, enrolledReplicaSets, services } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, targetRef, verified, workload } from './card-fixtures.ts';

const deployments = rowOf(targetRef)?.watch as Watch;
const owned = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});
const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'team1', name: 'weather-1', uid: 'rs', ...owned('Deployment', 'weather', 'uid-d') },
};
const orphan = { ...replicaSet, metadata: { namespace: 'team1', name: 'weather-1', uid: 'rs' } };
const pod = (over: object = {}, labels: Readonly<Record<string, string>> = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'team1', name: 'a', uid: 'a', labels, ...owned('ReplicaSet', 'weather-1', 'rs') },
    status: { phase: 'Running', conditions: [] },
    ...over,
  }) as KubeObject;
const service = (selector: Readonly<Record<string, string>>, port = 80): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'team1', name: 's', uid: 's' },
    spec: { selector, ports: [{ port }] },
  }) as KubeObject;
const named = (name: string, more: object = {}) => ({
  ...card(),
  metadata: { ...card().metadata, name, uid: name, ...more },
});
const elsewhere = { ...card(), metadata: { namespace: 'team2', name: 'elsewhere', uid: 'e' } };
const selected = pod({}, { app: 'weather', 'pod-template-hash': '7d9f' });
const reader = readerOf(
  new Map<Watch, readonly KubeObject[]>([
    [agentCards as Watch, [card(), named('second'), elsewhere]],
    [deployments, [workload().object]],
    [enrolledReplicaSets, [replicaSet]],
    [enrolledPods as unknown as Watch, [selected]],
  ]),
);

const config = configWatches('rossoctl-system');
const trustBundle = trustBundleWatch({ namespace: 'spire', name: 'spire-bundle', key: '' });
const all = triggers({ config, trustBundle });
const woken = (watch: unknown, old: KubeObject | undefined, now: KubeObject | undefined): readonly string[] =>
  all
    .filter((trigger) => trigger.watch === watch)
    .flatMap((trigger) => trigger.affects({ old, now }, reader))
    .map(({ namespace, name }) => `${namespace}/${name}`);

const both = ['team1/weather', 'team1/second'];
const every = [...both, 'team2/elsewhere'];
const deployment = workload().object;
const changed = (labels: Readonly<Record<string, string>>) => workload(labels).object;
const bundle = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'spire', name: 'spire-bundle' } };
const configMap = (text: string) => ({ ...bundle, metadata: { namespace: 'team1', name: 'd' }, data: { text } });
const ready = { status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } };

const rows: readonly (readonly [string, unknown, KubeObject | undefined, KubeObject | undefined, readonly string[]])[] =
  [
    ['a workload that appears', deployments, undefined, deployment, both],
    ['a workload whose labels change', deployments, deployment, changed({ 'rossoctl.io/type': 'tool' }), both],
    ['a workload of which nothing read changes', deployments, deployment, { ...deployment }, []],
    ['a pod whose labels change, by which Services select it', enrolledPods, pod(), pod({}, { track: 'canary' }), both],
    ['a pod that appears', enrolledPods, undefined, pod(), both],
    ['a pod that becomes ready', enrolledPods, pod(), pod(ready), both],
    ['a pod that loses the label', enrolledPods, pod({}, { [verified]: 'true' }), pod(), both],
    ['a pod of which nothing read changes', enrolledPods, pod(), pod({ spec: { nodeName: 'n' } }), []],
    ['a pod known by the label alone', verifiedPods, undefined, pod({}, { [verified]: 'true' }), both],
    ['a ReplicaSet that appears after its pods', enrolledReplicaSets, undefined, replicaSet, both],
    ['a ReplicaSet that scales', enrolledReplicaSets, replicaSet, { ...replicaSet }, []],
    ['a ReplicaSet that a Deployment adopts', enrolledReplicaSets, orphan, replicaSet, both],
    ['a ReplicaSet that its Deployment lets go of', enrolledReplicaSets, replicaSet, orphan, both],
    [
      'a pod that a ReplicaSet adopts',
      enrolledPods,
      pod({ metadata: { namespace: 'team1', name: 'a', uid: 'a' } }),
      pod(),
      both,
    ],
    ['a Service that selects its pods', services, undefined, service({ app: 'weather' }), both],
    [
      'a Service that selects them by a label of Kubernetes',
      services,
      undefined,
      service({ 'pod-template-hash': '7d9f' }),
      both,
    ],
    ['a Service that did', services, service({ app: 'weather' }), service({ app: 'other' }), both],
    ['a Service of others', services, undefined, service({ app: 'other' }), []],
    ['a Service whose port changes', services, service({ app: 'weather' }), service({ app: 'weather' }, 81), both],
    ['a Service of which nothing read changes', services, service({ app: 'weather' }), service({ app: 'weather' }), []],
    ['the trust bundle', trustBundle, undefined, bundle, every],
    ['the platform configuration', config.platform, configMap('a'), configMap('b'), every],
    ['the platform configuration, touched', config.platform, configMap('a'), configMap('a'), []],
    ['the defaults of a namespace', config.defaults, configMap('a'), configMap('b'), both],
    ['another card of that target', agentCards, undefined, named('second'), ['team1/weather']],
    ['a sibling’s status', agentCards, named('second'), { ...named('second'), status: {} } as KubeObject, []],
    [
      'a sibling that is being deleted',
      agentCards,
      named('second'),
      named('second', { deletionTimestamp: 'x' }),
      ['team1/weather'],
    ],
  ];

for (const [name, watch, old, now, wanted] of rows) {
  test(`${name} wakes ${wanted.length === 0 ? 'nobody' : wanted.join(', ')}`, () => {
    assert.deepEqual([...new Set(woken(watch, old, now))].sort(), [...wanted].sort());
  });
}

test('without verification the trust bundle is not watched', () => {
  const watched = triggers({ config, trustBundle: undefined }).map(({ watch }) => watch.id);
  assert.equal(watched.includes('trust-bundle'), false);
});

test('a card that is gone without a release, or has a namesake, is forgotten by everything that knew of it; one that changed is not', () => {
  const forgotten: string[] = [];
  const contacts = {
    keep: () => {},
    refresh: () => {},
    of: () => undefined,
    forget: (uid: string) => void forgotten.push(uid),
    source: { name: 'none', start: () => () => {} },
  };
  const verdicts = createVerdicts();
  const none = { config: [], gates: [], problems: [], warnings: [] };
  const controller = createAgentCardController({
    contacts,
    verdicts,
    layers: { read: () => none, lastGood: () => none },
    watches: config,
    files: {},
    metrics: createMetrics({ process: false }),
    verification: noVerification,
  });
  const tell = (change: Change<AgentCard>) => {
    verdicts.reach(card(), { isVerified: true, reason: 'SignatureVerified', about: 'x' });
    forgotten.length = 0;
    const reader = readerOf(new Map<Watch, readonly KubeObject[]>([[agentCards as Watch, []]]));
    const ofCards = controller.triggers.filter(({ watch }) => watch.id === agentCards.id);
    const woken = ofCards.flatMap((each) => each.affects(change, reader));
    assert.deepEqual(woken, []);
    return { forgotten: [...forgotten], isKnown: verdicts.of(card()) !== undefined };
  };
  const gone = { forgotten: ['uid-c'], isKnown: false };
  assert.deepEqual(tell({ old: card() }), gone);
  const namesake = { ...card(), metadata: { ...card().metadata, uid: 'younger' } };
  assert.deepEqual(tell({ old: card(), now: namesake }), gone);
  const kept = { forgotten: [], isKnown: true };
  assert.deepEqual(tell({ old: card(), now: card({ syncPeriod: '1h' }) }), kept);
  assert.deepEqual(tell({ now: card() }), kept);
});
