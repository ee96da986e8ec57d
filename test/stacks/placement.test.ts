/** What comes before what: at `pulumi up` in this order, at `pulumi destroy` in reverse. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, App, Chart } from 'cdk8s';
import { Agent, AgentPlatform, AgentRuntime } from '../../constructs/index.ts';
import { environments } from '../../stacks/environments.ts';
import { type Placed, placementOf } from '../../stacks/placement.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { appOf, platformEnvironments } from '../support/environments.ts';

/** Everything that must be there before it, however far away. */
function ancestors(placed: Placed, found = new Set<Placed>()): ReadonlySet<Placed> {
  for (const other of placed.after) {
    if (found.has(other)) continue;
    found.add(other);
    ancestors(other, found);
  }
  return found;
}

const kindsBefore = (all: readonly Placed[], kind: string): readonly string[] => {
  const one = all.find(({ manifest }) => manifest.kind === kind);
  assert.ok(one !== undefined, kind);
  return [...new Set([...ancestors(one)].map(({ manifest }) => manifest.kind))].sort();
};

for (const environment of environments()) {
  test(`${environment}: every object once, each behind what it needs`, () => {
    const app = appOf(environment);
    const all = placementOf(app);
    assert.equal(all.length, manifestsOf(app).length);
    all.forEach((placed, index) => {
      for (const other of placed.after) assert.ok(all.indexOf(other) < index, placed.manifest.metadata.name);
    });
  });
}

for (const environment of platformEnvironments()) {
  test(`${environment}: the webhooks behind all else`, () => {
    const all = placementOf(appOf(environment));
    const kinds = [...new Set(all.map(({ manifest }) => manifest.kind))];
    const [webhook, ...others] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
    const rest = kinds.filter((kind) => kind !== webhook && !others.includes(kind)).sort();
    assert.deepEqual(kindsBefore(all, webhook ?? ''), rest);
    const operator = kindsBefore(all, 'Deployment');
    for (const kind of ['Namespace', 'CustomResourceDefinition', 'ConfigMap', 'ServiceAccount']) {
      assert.ok(operator.includes(kind), kind);
    }
    assert.ok(!operator.some((kind) => kind.endsWith('WebhookConfiguration') || kind.startsWith('Validating')));
  });
}

test('PU-03 custom resources come after the whole platform, so that they are gone before the operator', () => {
  const app = new App();
  const platform = new Chart(app, 'platform');
  new AgentPlatform(platform, 'rossoctl', { image: 'example.test/rossoctl:1' });
  const team = new Chart(app, 'team', { namespace: 'team1' });
  new ApiObject(team, 'ns', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1' } });
  new Agent(team, 'weather', { image: 'example.test/weather:1', card: true });
  const all = placementOf(app);
  for (const kind of ['AgentRuntime', 'AgentCard']) {
    const before = kindsBefore(all, kind);
    for (const needed of ['CustomResourceDefinition', 'MutatingWebhookConfiguration', 'Deployment', 'Namespace']) {
      assert.ok(before.includes(needed), `${kind} behind ${needed}`);
    }
  }
  const weather = all.find(({ manifest }) => manifest.kind === 'Deployment' && manifest.metadata.name === 'weather');
  assert.deepEqual(weather?.after.map(({ manifest }) => `${manifest.kind} ${manifest.metadata.name}`).sort(), [
    'AgentCard weather-deployment-card',
    'AgentRuntime weather',
    'Namespace team1',
    'ServiceAccount weather',
  ]);
});

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'w' } as const;

test('a workload comes after what targets it, however it is named, and after nothing of a namesake', () => {
  const app = new App();
  const team = new Chart(app, 'team', { namespace: 'team1' });
  new ApiObject(team, 'w', { ...target, metadata: { name: 'w' } });
  new ApiObject(team, 'set', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'w' } });
  new AgentRuntime(team, 'runtime', { target, type: 'agent' });
  new AgentRuntime(new Chart(app, 'other', { namespace: 'team2' }), 'runtime', { target, type: 'agent' });
  const after = Object.fromEntries(
    placementOf(app).map(({ manifest: { kind, metadata }, after: before }) => [
      `${kind} ${metadata.namespace}`,
      before.map(({ manifest }) => `${manifest.kind} ${manifest.metadata.namespace}`),
    ]),
  );
  assert.deepEqual(after, {
    'AgentRuntime team1': [],
    'AgentRuntime team2': [],
    'Deployment team1': ['AgentRuntime team1'],
    'StatefulSet team1': [],
  });
});

test('an AgentRuntime that is to come after its workload is refused, with what to do', () => {
  const chart = new Chart(new App(), 'c');
  const workload = new ApiObject(chart, 'w', { ...target, metadata: { name: 'w' } });
  new AgentRuntime(chart, 'runtime', { target: workload, type: 'agent' }).apiObject.addDependency(workload);
  assert.throws(
    () => placementOf(App.of(chart)),
    /^Error: \[c\/.*\] is needed by what it needs: take a dependency away; a workload comes after its AgentRuntime/,
  );
});

test('so do those of an install whose definitions are another install’s', () => {
  const app = new App();
  const watch = { kind: 'namespaced', namespaces: ['team1'] } as const;
  const image = 'example.test/rossoctl:1';
  const props = { image, watch, instance: 'green', namespace: 'green-system', crds: 'shared' } as const;
  new AgentPlatform(new Chart(app, 'platform'), 'rossoctl', props);
  new Agent(new Chart(app, 'team', { namespace: 'team1' }), 'weather', { image: 'example.test/weather:1' });
  assert.ok(kindsBefore(placementOf(app), 'AgentRuntime').includes('MutatingWebhookConfiguration'));
});

test('what other installs rely on is marked, and nothing of an install that is alone', () => {
  const sharedBy = (more: object) => {
    const app = new App();
    const watch = { kind: 'namespaced', namespaces: ['team1'] } as const;
    new AgentPlatform(new Chart(app, 'platform'), 'rossoctl', { image: 'example.test/rossoctl:1', watch, ...more });
    const shared = placementOf(app).filter(({ isShared }) => isShared);
    return shared.map(({ manifest }) => manifest.metadata.name).sort();
  };
  const ours = [
    'agentcards.agent.rossoctl.dev',
    'agentruntimes.agent.rossoctl.dev',
    'signature-label-protection',
    'signature-label-protection',
  ];
  assert.deepEqual(sharedBy({}), []);
  assert.deepEqual(sharedBy({ instance: 'blue', namespace: 'blue-system' }), ours);
  const operators = [{ namespace: 'green-system', serviceAccountName: 'rossoctl-operator-green' }];
  assert.deepEqual(sharedBy({ operators }), ours);
  assert.deepEqual(sharedBy({ instance: 'green', namespace: 'green-system', crds: 'shared' }), []);
});

test('the number of edges grows with the number of agents, not with its square', () => {
  const edges = (count: number): number => {
    const team = new Chart(new App(), 'team', { namespace: 'team1' });
    for (let i = 0; i < count; i += 1) new Agent(team, `agent-${i}`, { image: 'example.test/a:1' });
    return placementOf(App.of(team)).reduce((sum, { after }) => sum + after.length, 0);
  };
  assert.equal(edges(40), 4 * edges(10));
  assert.equal(edges(10), 20, 'a Deployment behind its account and its AgentRuntime');
});

test('a circle is refused with its construct', () => {
  const chart = new Chart(new App(), 'c');
  const make = (id: string) =>
    new ApiObject(chart, id, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: id } });
  const [a, b] = [make('a'), make('b')];
  a.addDependency(b);
  b.node.addDependency(a);
  assert.throws(() => placementOf(App.of(chart)), /c\/[ab]|cycle|circle/i);
});
