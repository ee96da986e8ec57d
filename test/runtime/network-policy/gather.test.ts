/** Which pods outlive the workload of a card that is being deleted, when the API server is asked, and what is written for them. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import type { NetworkPolicy, Pod } from '../../../runtime/api/kubernetes.ts';
import { configWatches, createLayerReader } from '../../../runtime/config/read.ts';
import type { KubeObject, LiveReader, Watch } from '../../../runtime/engine/types.ts';
import { gatherOutlived } from '../../../runtime/network-policy/gather.ts';
import { leftoverPolicy } from '../../../runtime/network-policy/leftover.ts';
import { restrictiveRules } from '../../../runtime/network-policy/policies.ts';
import { selectorText } from '../../../runtime/network-policy/selector-text.ts';
import { networkPolicies } from '../../../runtime/network-policy/watch.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { namespaces } from '../../../runtime/workload/watches.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, condition, permissive, policy, selector, surroundings, workload } from './fixtures.ts';

const watches = configWatches('rossoctl-system');
const noFile = { current: { text: undefined, path: '/etc/x' }, subscribe: () => () => {} };
const layers = createLayerReader({
  watches,
  operatorNamespace: 'rossoctl-system',
  configFile: noFile,
  gatesFile: noFile,
});

interface World {
  readonly deleted?: boolean;
  readonly reason?: string | undefined;
  readonly owner?: string;
  readonly policies?: readonly NetworkPolicy[];
  /** As the cache has it, and as the API server does. */
  readonly cached?: KubeObject;
  readonly there?: KubeObject;
  readonly pods?: readonly Pod[];
  readonly namespace?: KubeObject;
}

function pod(name: string, more: Partial<Pod['metadata']> = {}, phase = 'Running'): Pod {
  const labels = selector.matchLabels ?? {};
  const metadata = { namespace: 'team1', name, uid: `uid-${name}`, labels, creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ...more },
    spec: { containers: [] },
    status: { phase },
  };
}

function cardOf({ deleted = true, reason = 'Restrictive', owner }: World): AgentCard {
  const isWritten = reason === 'Restrictive' ? 'True' : 'False';
  const conditions = reason === 'none' ? [] : [condition('NetworkPolicyReady', isWritten, { reason })];
  const of = card({ deleted, status: { conditions } });
  const { apiVersion, kind, name } = of.spec.targetRef;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion, kind, name, uid: owner }];
  return { ...of, metadata: { ...of.metadata, ownerReferences } };
}

/** What is found, and which kinds the API server was asked for. */
async function look(world: World) {
  const { policies = [policy()], cached, there, pods = [pod('a')], namespace } = world;
  const reader = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [networkPolicies as Watch, policies],
      [namespaces, namespace === undefined ? [] : [namespace]],
      ...workloadRows.map(({ watch, kind }): [Watch, readonly KubeObject[]] => [
        watch,
        kind === 'Deployment' && cached !== undefined ? [cached] : [],
      ]),
    ]),
  );
  const asked: string[] = [];
  const live: LiveReader = {
    get: () => Promise.reject(new Error('no single object is asked for')),
    list: (kind, where) => {
      asked.push([kind.kind, where?.labels ?? where?.fields].join(' '));
      const found: readonly KubeObject[] = kind.kind === 'Pod' ? pods : there === undefined ? [] : [there];
      return Promise.resolve(found as never);
    },
  };
  const signal = AbortSignal.any([]);
  const by = { layers, operatorNamespace: 'rossoctl-system' };
  const found = await gatherOutlived(cardOf(world), { reader, live, signal }, by);
  return { names: found.map(({ pods: of }) => of.map(({ metadata }) => metadata.name).join()), asked, found };
}

const { object } = workload();
const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' } };
const inForeground = { ...going, metadata: { ...going.metadata, finalizers: ['foregroundDeletion'] } };
const askedPods = 'Pod app=weather';
const askedWorkload = 'Deployment metadata.name=weather';
const ending: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'team1', deletionTimestamp: 'now' },
};

const rows: readonly (readonly [what: string, world: World, names: readonly string[], asked: readonly string[]])[] = [
  ['the workload is gone', {}, ['a'], [askedPods]],
  ['it is going', { cached: going }, ['a'], [askedPods]],
  ['it is gone, and the cache behind', { cached: object }, ['a'], [askedWorkload, askedPods]],
  ['it is going, and the cache behind', { cached: object, there: going }, ['a'], [askedWorkload, askedPods]],
  ['it stays', { cached: object, there: object }, [], [askedWorkload]],
  ['another of its name came', { cached: object, there: object, owner: 'former' }, ['a'], [askedPods]],
  [
    'it stays, and is the card’s owner',
    { cached: object, there: object, owner: object.metadata.uid ?? '' },
    [],
    [askedWorkload],
  ],
  [
    'in the foreground, where some pods are going',
    { cached: inForeground, pods: [pod('a', { deletionTimestamp: 'now' }), pod('b')] },
    ['a'],
    [askedPods],
  ],
  ['in the foreground, without pods', { cached: inForeground, pods: [] }, [], [askedPods]],
  ['no pod is left', { pods: [] }, [], [askedPods]],
  [
    'pods that have ended have no network',
    { pods: [pod('a', {}, 'Succeeded'), pod('b', {}, 'Failed')] },
    [],
    [askedPods],
  ],
  [
    'pods that are going may have one, whatever their phase',
    { pods: [pod('a', { deletionTimestamp: 'now' }, 'Failed'), pod('b', {}, 'Pending')] },
    ['a,b'],
    [askedPods],
  ],
  ['a pod made later', { pods: [pod('a', { creationTimestamp: '2026-01-01T02:00:00Z' })] }, [], [askedPods]],
  ['a list that is longer than was asked for', { pods: [pod('a', { labels: {} })] }, [], [askedPods]],
  ['the card is not being deleted', { deleted: false }, [], []],
  ['no network policy was ever its business', { reason: 'none' }, [], []],
  ['its namespace ends', { namespace: ending }, [], []],
  ['the collector took the policy first', { policies: [], cached: going }, ['a'], [askedPods]],
  ['there was no policy of ours', { policies: [], cached: going, reason: 'NameTaken' }, [], []],
  ['policy and workload are gone', { policies: [] }, [], []],
];

describe('pods that outlive their workload', () => {
  for (const [what, world, names, asked] of rows) {
    test(`${what}: ${names.join() || 'none'}`, async () => {
      const seen = await look(world);
      assert.deepEqual([seen.names, seen.asked], [names, asked]);
    });
  }

  test('in the foreground, before the collector has come to the pods: to be tried again', async () => {
    await assert.rejects(look({ cached: inForeground }), /not being deleted yet/);
  });

  test('each is an owner of one closed policy, whatever the verdict was; its name is neither the card’s nor another card’s', async () => {
    const { found } = await look({ policies: [permissive()], pods: [pod('a'), pod('b')] });
    const [fragment] = found.map(leftoverPolicy);
    assert.ok(fragment);
    const { metadata, spec } = fragment.body as NetworkPolicy;
    assert.deepEqual(spec, {
      podSelector: selector,
      policyTypes: ['Ingress', 'Egress'],
      ...restrictiveRules(surroundings()),
    });
    assert.deepEqual(metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'uid-a' },
      { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: 'uid-b' },
    ]);
    assert.match(metadata.name ?? '', /^weather-signature-policy-[0-9a-f]{8}$/);
    const names = [card({ uid: 'other' }), card()].map((of) => {
      const [first] = found;
      assert.ok(first);
      return leftoverPolicy({ ...first, card: of }).body.metadata.name;
    });
    assert.equal(new Set(names).size, 2);
    assert.equal(names[1], metadata.name);
  });
});

test('a selector as text', () => {
  const text = selectorText({
    matchLabels: { app: 'weather', tier: '' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['x', 'y'] },
      { key: 'b', operator: 'NotIn', values: ['z'] },
      { key: 'c', operator: 'Exists' },
      { key: 'd', operator: 'DoesNotExist' },
      { key: 'e', operator: 'Gt', values: ['1'] },
    ],
  });
  assert.equal(text, 'app=weather,tier=,a in (x,y),b notin (z),c,!d');
});
