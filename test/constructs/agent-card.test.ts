/** AgentCard: what it renders from any kind of target, and every mistake it refuses at synthesis. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, type Chart } from 'cdk8s';
import { Check } from 'typebox/value';
import { AgentCard, type AgentCardProps, AgentRuntime } from '../../constructs/index.ts';
import { AgentCardSpec } from '../../runtime/api/agent-card.ts';
import { generatedCardName } from '../../runtime/api/names.ts';
import { one, synthesized } from './synthesized.ts';

const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } as const;

function deployment(chart: Chart, metadata: object = {}): ApiObject {
  return new ApiObject(chart, 'workload', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'weather', labels: { 'protocol.rossoctl.io/a2a': '' }, ...metadata },
    spec: { template: {} },
  });
}

test('a plain reference: the spec is the target alone, the name that of the card it replaces', () => {
  const objects = synthesized((chart) => new AgentCard(chart, 'card', { target: reference }));
  assert.deepEqual(objects, [
    {
      apiVersion: 'agent.rossoctl.dev/v1alpha1',
      kind: 'AgentCard',
      metadata: { name: 'weather-deployment-card' },
      spec: { targetRef: reference },
    },
  ]);
  assert.equal(objects[0]?.metadata.name, generatedCardName('Deployment', 'weather'));
});

test('CS-02 its name follows the target, not the construct, unless it has its own', () => {
  const [object] = synthesized((chart) => new AgentCard(chart, 'some-id', { target: reference }), { id: 'else' });
  assert.equal(object?.metadata.name, 'weather-deployment-card');
  const [named] = synthesized((chart) => new AgentCard(chart, 'some-id', { target: reference, name: 'mine' }));
  assert.equal(named?.metadata.name, 'mine');
});

test('an ApiObject: its namespace is followed', () => {
  const objects = synthesized((chart) => {
    const card = new AgentCard(chart, 'a-first', { target: deployment(chart, { namespace: 'team1' }) });
    assert.equal(card.namespace, 'team1');
    assert.deepEqual(card.targetRef, reference);
  });
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['Deployment', 'AgentCard'],
  );
  assert.equal(one(objects, 'AgentCard').metadata.namespace, 'team1');
});

test('every field of the spec is a prop, and what is rendered fits the schema', () => {
  const props = {
    syncPeriod: '1m30s',
    identityBinding: { trustDomain: 'prod.example', scope: 'workload', strict: false },
  } satisfies Omit<AgentCardProps, 'target'>;
  const objects = synthesized((chart) => new AgentCard(chart, 'card', { target: reference, ...props }));
  const { spec } = one(objects, 'AgentCard') as unknown as { spec: unknown };
  assert.deepEqual(spec, { targetRef: reference, ...props });
  assert.ok(Check(AgentCardSpec, spec));
  assert.deepEqual(Object.keys(spec as object).sort(), Object.keys(AgentCardSpec.properties).sort());
});

test('a prop that is undefined is a prop that is absent', () => {
  const props = { target: reference, syncPeriod: undefined, identityBinding: { scope: undefined } };
  const objects = synthesized((chart) => new AgentCard(chart, 'card', props as unknown as AgentCardProps));
  assert.deepEqual(one(objects, 'AgentCard')['spec'], { targetRef: reference, identityBinding: {} });
});

test('the same name in another kind or namespace is another target', () => {
  const objects = synthesized((chart) => {
    new AgentCard(chart, 'a', { target: reference });
    new AgentCard(chart, 'b', { target: { ...reference, kind: 'StatefulSet' } });
    new AgentCard(chart, 'c', { target: reference, namespace: 'team2' });
  });
  assert.equal(objects.length, 3);
});

test('a workload of an app may be enrolled and have its card kept by hand', () => {
  const objects = synthesized((chart) => {
    const target = deployment(chart);
    new AgentRuntime(chart, 'runtime', { target, type: 'agent' });
    new AgentCard(chart, 'card', { target, identityBinding: { scope: 'workload' } });
  });
  assert.equal(objects.length, 3);
});

const card = (chart: Chart, id: string, props: Partial<AgentCardProps> = {}) =>
  new AgentCard(chart, id, { target: reference, ...props });

const refused: readonly (readonly [what: string, build: (chart: Chart) => void, says: RegExp])[] = [
  [
    'a second card for a target',
    (chart) => [card(chart, 'one'), card(chart, 'two', { name: 'other' })],
    /\[test\/two\] Deployment weather already has an AgentCard at test\/one: remove one, a workload has at most one/,
  ],
  [
    'a kind that makes no pods we know',
    (chart) => card(chart, 'card', { target: { ...reference, kind: 'ReplicaSet' } }),
    /\[test\/card\] target kind ReplicaSet \(apps\/v1\) is not supported: use one of Deployment/,
  ],
  [
    'a workload that says no protocol',
    (chart) => card(chart, 'card', { target: deployment(chart, { labels: {} }) }),
    /\[test\/card\] Deployment weather does not say which protocol it speaks, .*: set a label such as protocol\.rossoctl\.io\/a2a: ""/,
  ],
  [
    'a tool',
    (chart) => [new AgentRuntime(chart, 'runtime', { target: reference, type: 'tool' }), card(chart, 'card')],
    /\[test\/card\] Deployment weather is enrolled as a tool at test\/runtime, and only agents have cards: remove/,
  ],
  [
    'a label that only the operator sets',
    (chart) =>
      card(chart, 'card', {
        target: deployment(chart, { labels: { 'protocol.rossoctl.io/a2a': '', 'rossoctl.io/type': 'agent' } }),
      }),
    /Deployment weather sets rossoctl\.io\/type on its metadata/,
  ],
  [
    'a namespace that is not the target’s',
    (chart) => card(chart, 'card', { target: deployment(chart, { namespace: 'team1' }), namespace: 'team2' }),
    /the target is in namespace team1, the AgentCard in team2: leave namespace out/,
  ],
  [
    'a sync period under the shortest',
    (chart) => card(chart, 'card', { syncPeriod: '1s' }),
    /\[test\/card\] syncPeriod: 1s is too short; the shortest is 5s/,
  ],
  [
    'a sync period that is none',
    (chart) => card(chart, 'card', { syncPeriod: '1 minute' }),
    /syncPeriod: "1 minute" is not allowed; .*for example 30s/,
  ],
  [
    'a trust domain with a scheme',
    (chart) => card(chart, 'card', { identityBinding: { trustDomain: 'spiffe://prod.example' } }),
    /identityBinding\.trustDomain: "spiffe:\/\/prod\.example" is not allowed/,
  ],
  [
    'a scope that is none',
    (chart) => card(chart, 'card', { identityBinding: { scope: 'pod' } } as object),
    /identityBinding\.scope: "pod" is not allowed; must be one of trustDomain, workload/,
  ],
  [
    'an unknown prop',
    (chart) => card(chart, 'card', { syncperiod: '1m' } as object),
    /\[test\/card\] syncperiod: unknown key; did you mean syncPeriod\?/,
  ],
  [
    'no props at all',
    (chart) => new AgentCard(chart, 'card', undefined as unknown as AgentCardProps),
    /\[test\/card\] target: is missing; give the workload/,
  ],
  [
    'a reference instead of a workload',
    (chart) =>
      new AgentCard(chart, 'card', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'w' } } as never),
    /target: is missing; give the workload.*\n.*targetRef: unknown key; allowed are target, /,
  ],
  [
    'a plain reference that says more than it may',
    (chart) =>
      card(chart, 'card', {
        target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a', namespace: 'other' } as never,
      }),
    /target\.namespace: unknown key/,
  ],
  ['a name that is none', (chart) => card(chart, 'card', { name: 'A_b' }), /\[test\/card\] name: "A_b" is not allowed/],
];
for (const [what, build, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(() => synthesized(build), says);
  });
}
