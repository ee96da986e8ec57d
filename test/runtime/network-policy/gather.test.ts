/** Which pods outlive the workload of a card that is being deleted, when the API server is asked. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operatorPodLabels } from '../../../runtime/api/names.ts';
import { selectorText } from '../../../runtime/network-policy/selector-text.ts';
import { card, policy, selector } from './fixtures.ts';
import {
  controlledBy,
  finalizers,
  going,
  goingOf,
  inForeground,
  look,
  named,
  object,
  pod,
  type World,
} from './outliving-bed.ts';

const ending = goingOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1' } });
const askedPods = 'Pod app=weather';
const askedWorkload = 'Deployment metadata.name=weather';
const askedBoth = [askedWorkload, askedPods];

const rows: readonly (readonly [what: string, world: World, names: readonly string[], asked?: readonly string[]])[] = [
  ['the workload is gone', {}, ['a']],
  ['it is going', { cached: going, there: going }, ['a']],
  ['it is gone, and the cache behind', { cached: object }, ['a']],
  ['it is going, and the cache behind', { cached: object, there: going }, ['a']],
  ['it stays', { cached: object, there: object }, [], [askedWorkload]],
  ['another of its name came', { cached: object, there: object, owner: 'former' }, ['a']],
  [
    'another of its name came, the cache has the former one and the card no owner',
    { cached: { ...going, metadata: { ...going.metadata, uid: 'former' } }, there: object },
    ['a'],
  ],
  [
    'it stays, and is the card’s owner',
    { cached: object, there: object, owner: object.metadata.uid ?? '' },
    [],
    [askedWorkload],
  ],
  [
    'it stays, is the card’s owner, and the cache behind',
    { there: object, owner: object.metadata.uid ?? '' },
    [],
    [askedWorkload],
  ],
  ['in the foreground, without pods', { cached: inForeground, there: inForeground, pods: [] }, []],
  ['no pod is left', { pods: [] }, []],
  ['pods that have ended have no network', { pods: [pod('a', {}, 'Succeeded'), pod('b', {}, 'Failed')] }, []],
  [
    'pods that are going may have one, whatever their phase',
    { pods: [pod('a', { deletionTimestamp: 'now' }, 'Failed'), pod('b', {}, 'Pending')] },
    ['a,b'],
  ],
  [
    'a pod that its ReplicaSet made after the deletion',
    { pods: [pod('a', { creationTimestamp: '2026-01-01T02:00:00Z' })] },
    ['a'],
  ],
  ['a list that is longer than was asked for', { pods: [pod('a', { labels: {} })] }, []],
  ['the card is not being deleted', { deleted: false }, [], []],
  ['no network policy was ever its business', { policies: [], reason: 'none' }, [], []],
  ['a policy was made, and the condition is not written yet', { reason: 'none' }, ['a']],
  ['its namespace ends', { ending }, [], []],
  ['the collector took the policy first', { policies: [], cached: going }, ['a']],
  [
    'the collector took the policy first, and the cache lacks the workload',
    { policies: [], there: going, owner: object.metadata.uid ?? '' },
    ['a'],
  ],
  ['it was closed because a setting is bad', { policies: [], cached: going, reason: 'ConfigInvalid' }, ['a']],
  ...['NameTaken', 'NameHeld', 'SelectsOperator', 'NoPodSelector', 'TargetUnsupported'].map(
    (reason) => [`there was no policy of ours: ${reason}`, { policies: [], cached: going, reason }, [], []] as const,
  ),
  ['policy and workload are gone', { policies: [] }, [], [askedWorkload]],
];

describe('pods that outlive their workload', () => {
  for (const [what, world, names, asked = askedBoth] of rows) {
    test(`${what}: ${names.join() || 'none'}`, async () => {
      const seen = await look(world);
      assert.deepEqual([seen.names, seen.asked], [names, asked]);
    });
  }
});

describe('in the foreground', () => {
  const other = named('Deployment', 'other');
  const isGoing = { deletionTimestamp: 'now' };
  /** As either of them says. */
  const views: readonly (readonly [who: string, World])[] = [
    ['API server and cache', { cached: inForeground, there: inForeground }],
    ['the API server alone', { cached: object, there: inForeground }],
    ['the cache alone', { cached: inForeground }],
  ];
  for (const [who, world] of views) {
    test(`as ${who} say, the pods own nothing before the collector has come to all of them`, async () => {
      for (const pods of [
        [pod('a'), pod('b')],
        [pod('a', isGoing), pod('b')],
        [pod('a', isGoing), pod('b', { ...isGoing, finalizers })],
      ])
        await assert.rejects(look({ ...world, pods, afterMs: 29_999 }), /not all being deleted yet/);
      const all = [pod('a', isGoing), pod('b', isGoing)];
      assert.deepEqual((await look({ ...world, pods: all })).names, ['a,b']);
    });
  }

  test('the collector comes to them while they are looked at', async () => {
    const podsLater = [pod('a', isGoing), pod('b', isGoing)];
    const seen = await look({ cached: inForeground, pods: [pod('a'), pod('b')], podsLater });
    assert.deepEqual([seen.names, seen.asked], [['a,b'], [askedWorkload, askedPods, askedPods]]);
  });

  test('whoever is not being deleted after half a minute is not waited for', async () => {
    const pods = [pod('a', isGoing), pod('b')];
    assert.deepEqual((await look({ cached: inForeground, pods, afterMs: 30_000 })).names, ['a,b']);
  });

  test('pods of others are not waited for', async () => {
    const owned = pod('b', { ownerReferences: [controlledBy(other)] });
    const pods = [pod('a', isGoing), owned];
    assert.deepEqual((await look({ cached: inForeground, pods, others: [other] })).names, ['a']);
  });
});

describe('while another card is next for the workload, which stays', () => {
  const heir = card({ name: 'heir' });
  const staying: World = { cached: object, there: object, cards: [heir] };
  const takenOver = [policy({ card: heir })];

  test('the card is held until that one has taken over the policy', async () => {
    await assert.rejects(look({ ...staying, afterMs: 29_999 }), /has not taken over the policy/);
    assert.deepEqual((await look({ ...staying, policiesLater: takenOver })).outlived, []);
    assert.deepEqual((await look({ ...staying, policies: takenOver })).outlived, []);
  });

  test('and half a minute at most', async () => {
    assert.deepEqual((await look({ ...staying, afterMs: 30_000 })).outlived, []);
  });

  test('not for one that goes, too, or has another policy', async () => {
    assert.deepEqual((await look({ ...staying, cards: [card({ name: 'heir', deleted: true })] })).outlived, []);
    const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' };
    assert.deepEqual((await look({ ...staying, cards: [card({ name: 'heir', spec: { targetRef } })] })).outlived, []);
  });
});

describe('what is never written', () => {
  test('a policy that selects everything, whatever somebody wrote on the one before', async () => {
    const open = policy({ podSelector: {} });
    assert.deepEqual((await look({ policies: [open] })).outlived, []);
    const [first, ...more] = (await look({ policies: [open], cached: going })).outlived;
    assert.deepEqual([first?.podSelector, more], [selector, []]);
  });

  test('one that selects the operator’s pods', async () => {
    const namespace = 'rossoctl-system';
    const policies = [policy({ card: card({ namespace }), podSelector: { matchLabels: operatorPodLabels } })];
    const operator = pod('operator', { namespace, labels: { ...operatorPodLabels, app: 'weather' } });
    assert.deepEqual((await look({ namespace, policies, pods: [operator] })).outlived, []);
    const byOther = [policy({ card: card({ namespace }) })];
    assert.deepEqual((await look({ namespace, policies: byOther, pods: [operator] })).outlived, []);
    assert.deepEqual((await look({ namespace, policies: byOther, pods: [pod('a', { namespace })] })).names, ['a']);
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
