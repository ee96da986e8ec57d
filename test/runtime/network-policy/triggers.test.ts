/** Which cards a change concerns, and which changes concern nobody. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { networkPolicyName } from '../../../runtime/api/names.ts';
import { configWatches } from '../../../runtime/config/read.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { KubeObject, Live, Reader, Watch } from '../../../runtime/engine/types.ts';
import { countingSource } from '../../../runtime/network-policy/sources.ts';
import { triggers } from '../../../runtime/network-policy/triggers.ts';
import { networkPolicies } from '../../../runtime/network-policy/watch.ts';
import { agentCards, everyCard } from '../../../runtime/workload/cards.ts';
import { fileSources } from '../../../runtime/workload/trigger.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, condition, foreignPolicy, permissive, policy, selector, workload } from './fixtures.ts';

const watches = configWatches('rossoctl-system');
const deployments = workloadRows[0]?.watch as Watch;

const weather = card();
const second = card({ name: 'second' });
const set = card({ name: 'set', spec: { targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'weather' } } });
const storm = card({
  name: 'storm',
  spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'storm' } },
});
const elsewhere = card({ name: 'elsewhere', namespace: 'team2' });
const all = [weather, second, set, storm, elsewhere];

function readerWith(cards: readonly AgentCard[]): Reader {
  return readerOf(new Map<Watch, readonly KubeObject[]>([[agentCards as Watch, cards]]));
}

function woken(watch: Watch, change: { old?: KubeObject; now?: KubeObject }, cards: readonly AgentCard[] = all) {
  const [one] = triggers(watches).filter((each) => each.watch === watch);
  assert.ok(one);
  return one
    .affects(change, readerWith(cards))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .sort();
}

const cards = agentCards as Watch;
const policies = networkPolicies as Watch;

describe('cards', () => {
  test('one that comes or goes concerns those of its workload and of its name', () => {
    assert.deepEqual(woken(cards, { now: weather }), ['team1/second', 'team1/set']);
    assert.deepEqual(woken(cards, { old: weather }), ['team1/second', 'team1/set']);
  });
  test('a new target concerns those of both', () => {
    const moved = { ...weather, spec: storm.spec };
    assert.deepEqual(woken(cards, { old: weather, now: moved }), ['team1/second', 'team1/set', 'team1/storm']);
  });
  test('a verdict concerns nobody else', () => {
    assert.deepEqual(woken(cards, { old: weather, now: card({ verified: 'True' }) }), []);
  });
  test('a deletion that begins concerns who may count now', () => {
    assert.deepEqual(woken(cards, { old: weather, now: card({ deleted: true }) }), ['team1/second', 'team1/set']);
  });
});

describe('policies', () => {
  test('ours that is gone concerns its card and whoever may want the name', () => {
    assert.deepEqual(woken(policies, { old: policy({ card: storm }) }), [
      'team1/second',
      'team1/set',
      'team1/storm',
      'team1/weather',
    ]);
  });
  test('ours that somebody edited concerns them too; one that is as it was concerns nobody', () => {
    assert.deepEqual(woken(policies, { old: policy(), now: permissive() }), [
      'team1/second',
      'team1/set',
      'team1/weather',
    ]);
    const again = { ...policy(), metadata: { ...policy().metadata, resourceVersion: '2' } };
    assert.deepEqual(woken(policies, { old: policy(), now: again }), []);
  });
  test('another’s with a name of ours concerns who wants it, another name nobody', () => {
    assert.deepEqual(woken(policies, { now: foreignPolicy('storm-signature-policy') }), ['team1/storm']);
    assert.deepEqual(woken(policies, { now: foreignPolicy('weather-signature-policy-statefulset') }), [
      'team1/second',
      'team1/set',
      'team1/weather',
    ]);
    assert.deepEqual(woken(policies, { now: foreignPolicy('weather') }), []);
    assert.deepEqual(woken(policies, { now: foreignPolicy('deny-all') }), []);
  });
  test('a name that may have been cut concerns every card of the namespace', () => {
    const long = networkPolicyName('w'.repeat(250));
    assert.deepEqual(woken(policies, { now: foreignPolicy(long) }), [
      'team1/second',
      'team1/set',
      'team1/storm',
      'team1/weather',
    ]);
  });
});

describe('workloads and configuration', () => {
  const { object } = workload();
  test('a workload that comes or goes, or selects other pods or moves them to the host’s network, concerns its cards', () => {
    assert.deepEqual(woken(deployments, { now: object }), ['team1/second', 'team1/weather']);
    assert.deepEqual(woken(deployments, { old: object }), ['team1/second', 'team1/weather']);
    const other = workload('Deployment', { selector: { matchLabels: { app: 'x' } } }).object;
    assert.deepEqual(woken(deployments, { old: object, now: other }), ['team1/second', 'team1/weather']);
    const onHost = workload('Deployment', {
      selector,
      template: { spec: { hostNetwork: true, containers: [] } },
    }).object;
    assert.deepEqual(woken(deployments, { old: object, now: onHost }), ['team1/second', 'team1/weather']);
  });
  test('scaling and rolling out concern nobody', () => {
    const scaled = { ...object, spec: { ...(object as unknown as { spec: object }).spec, replicas: 9 } };
    assert.deepEqual(woken(deployments, { old: object, now: scaled }), []);
  });
  test('the platform’s configuration concerns all, a namespace’s its own, and text that did not change nobody', () => {
    const map = (namespace: string, text: string) =>
      ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name: 'x' },
        data: { 'config.yaml': text },
      }) as KubeObject;
    assert.equal(woken(watches.platform as Watch, { now: map('rossoctl-system', 'a') }).length, 5);
    assert.equal(woken(watches.gates as Watch, { now: map('rossoctl-system', 'a') }).length, 5);
    assert.deepEqual(woken(watches.defaults as Watch, { old: map('team2', 'a'), now: map('team2', 'b') }), [
      'team2/elsewhere',
    ]);
    assert.deepEqual(woken(watches.platform as Watch, { old: map('x', 'a'), now: map('x', 'a') }), []);
  });
  test('a mounted file concerns all', () => {
    const listeners: (() => void)[] = [];
    const file: Live<unknown> = {
      current: 1,
      subscribe: (listener) => {
        listeners.push(() => listener(2));
        return () => {};
      },
    };
    const names: string[] = [];
    const [source] = fileSources({ config: file }, everyCard);
    source?.start(({ name }) => names.push(name), readerWith(all));
    for (const listener of listeners) listener();
    assert.equal(names.length, 5);
  });
});

test('a metric counts cards by how their network stands, on the replica that works alone', async () => {
  const metrics = createMetrics({ process: false });
  const source = countingSource(metrics);
  const lines = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('rossoctl_network_policies{'));
  assert.deepEqual(await lines(), []);
  const standing = (reason: string, name: string) =>
    card({ name, status: { conditions: [condition('NetworkPolicyReady', 'True', { reason })] } });
  const stop = source.start(
    () => {},
    readerWith([standing('Permissive', 'a'), standing('Permissive', 'b'), standing('NameTaken', 'c'), weather]),
  );
  const counted = (await lines()).filter((line) => !line.endsWith(' 0'));
  assert.deepEqual(counted.sort(), [
    'rossoctl_network_policies{reason="NameTaken"} 1',
    'rossoctl_network_policies{reason="Permissive"} 2',
  ]);
  stop();
  assert.deepEqual(await lines(), []);
});
