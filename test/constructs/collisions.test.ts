/** Two constructs that would make one object: refused at synthesis, with both paths and what to do. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, App, Chart } from 'cdk8s';
import { Agent, AgentNamespace, AgentPlatform, AgentRuntime, Tool } from '../../constructs/index.ts';
import { one, platform, synthesized } from './synthesized.ts';

const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } as const;
const image = 'example.test/weather:1';

const refused: readonly (readonly [what: string, build: (chart: Chart) => void, says: RegExp])[] = [
  [
    'two AgentRuntimes that take their name from two workloads of one name',
    (chart) => {
      new AgentRuntime(chart, 'a', { type: 'agent', target: reference });
      new AgentRuntime(chart, 'b', { type: 'agent', target: { ...reference, kind: 'StatefulSet' } });
    },
    /AgentRuntime weather is made 2 times, by test\/a\/Resource and test\/b\/Resource: give each another name \(prop name\)/,
  ],
  [
    'an agent and a tool of one name',
    (chart) => {
      new Agent(chart, 'a', { image, name: 'weather', kind: 'StatefulSet' });
      new Tool(chart, 'b', { image, name: 'weather' });
    },
    /ServiceAccount weather and 2 more objects are made 2 times, by test\/a and test\/b: remove all but one, or have each make its own/,
  ],
  [
    'what somebody else makes under an agent’s name',
    (chart) => {
      new Agent(chart, 'a', { image, name: 'weather', namespace: 'team1' });
      const metadata = { name: 'weather', namespace: 'team1' };
      new ApiObject(chart, 'mine', { apiVersion: 'v1', kind: 'Service', metadata });
    },
    /Service team1\/weather is made 2 times, by test\/a\/service and test\/mine/,
  ],
  [
    'one namespace made twice',
    (chart) => {
      new AgentNamespace(chart, 'a', { name: 'team1' });
      new AgentNamespace(chart, 'b', { name: 'team1' });
    },
    /Namespace team1 is made 2 times, by .*: let one of them make it, and set create: false/,
  ],
  [
    'two versions of one object',
    (chart) => {
      new AgentNamespace(chart, 'any', { name: 'team1' });
      for (const version of ['v1', 'v2']) {
        new ApiObject(chart, version, { apiVersion: `example.test/${version}`, kind: 'X', metadata: { name: 'x' } });
      }
    },
    /X x is made 2 times/,
  ],
];
for (const [what, build, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(() => synthesized(build), says);
  });
}

test('refused: one object in two charts of an app', () => {
  const app = new App();
  const [first] = ['one', 'two'].map((id) => {
    const chart = new Chart(app, id);
    new AgentRuntime(chart, 'rt', { type: 'agent', target: { ...reference, name: `${id}-target` }, name: 'same' });
    return chart;
  });
  assert.throws(() => first?.toJson(), /AgentRuntime same is made 2 times, by one\/rt\/Resource and two\/rt\/Resource/);
});

test('a long list is cut short', () => {
  const twice = (chart: Chart) => {
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      new Agent(chart, `${id}1`, { image, name: id });
      new Tool(chart, `${id}2`, { image, name: id });
    }
  };
  assert.throws(() => synthesized(twice), /made 2 times, by test\/e1 and .*\n.*and 2 more are made twice/);
});

test('two platforms are told in two lines, of which the second says what a cluster can have', () => {
  const message = messageOf(() =>
    synthesized((chart) => {
      for (const id of ['a', 'b']) new AgentPlatform(chart, id, { image, config: {} });
    }),
  );
  const [, ...lines] = message.split('\n').filter((line) => line.trim() !== '');
  assert.equal(lines.length, 2, message);
  assert.match(
    lines[0] ?? '',
    /^ +\[.*\] Namespace rossoctl-system and \d+ more objects are made 2 times, by test\/a and test\/b: /,
  );
  assert.match(lines[1] ?? '', /\[test\/b\] the app already has an AgentPlatform at test\/a: a cluster has one/);
});

function messageOf(build: () => unknown): string {
  try {
    build();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

test('the same name in another namespace, kind or group is another object', () => {
  const objects = synthesized((chart) => {
    for (const namespace of ['team1', 'team2']) new Agent(chart, namespace, { image, name: 'weather', namespace });
    const other = {
      apiVersion: 'serving.example/v1',
      kind: 'Service',
      metadata: { name: 'weather', namespace: 'team1' },
    };
    new ApiObject(chart, 'other', other);
  });
  assert.equal(objects.length, 9);
});

test('two AgentRuntimes for workloads of one name live side by side under names of their own', () => {
  const objects = synthesized((chart) => {
    new AgentRuntime(chart, 'a', { type: 'agent', target: reference });
    new AgentRuntime(chart, 'b', { type: 'agent', target: { ...reference, kind: 'StatefulSet' }, name: 'weather-set' });
  });
  assert.equal(one(objects, 'AgentRuntime', 'weather-set')['spec'].targetRef.kind, 'StatefulSet');
});

test('the platform, which takes the chart’s namespace off its own objects, collides with nothing', () => {
  assert.ok(platform({ config: {}, featureGates: {}, certificates: 'cert-manager' }).length > 0);
});
