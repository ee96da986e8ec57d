/** AgentRuntime: what it renders from any kind of target, and every mistake it refuses at synthesis. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, type Chart } from 'cdk8s';
import * as kplus from 'cdk8s-plus-28';
import { Check } from 'typebox/value';
import { AgentRuntime, type AgentRuntimeProps } from '../../constructs/index.ts';
import { AgentRuntimeSpec } from '../../runtime/api/agent-runtime.ts';
import { one, synthesized } from './synthesized.ts';

const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' } as const;

function deployment(chart: Chart, metadata: object = {}, template: object = {}): ApiObject {
  return new ApiObject(chart, 'workload', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'weather-agent', ...metadata },
    spec: { template: { metadata: template } },
  });
}

test('a plain reference', () => {
  const objects = synthesized((chart) => new AgentRuntime(chart, 'rt', { target: reference, type: 'agent' }));
  assert.deepEqual(objects, [
    {
      apiVersion: 'agent.rossoctl.dev/v1alpha1',
      kind: 'AgentRuntime',
      metadata: { name: 'weather-agent' },
      spec: { type: 'agent', targetRef: reference },
    },
  ]);
});

test('an ApiObject: its namespace is followed', () => {
  const objects = synthesized((chart) => {
    const rt = new AgentRuntime(chart, 'a-first', {
      target: deployment(chart, { namespace: 'team1' }),
      type: 'tool',
      name: 'w',
    });
    assert.equal(rt.namespace, 'team1');
    assert.equal(rt.name, 'w');
    assert.deepEqual(rt.targetRef, reference);
  });
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['Deployment', 'AgentRuntime'],
  );
  assert.equal(one(objects, 'AgentRuntime').metadata.namespace, 'team1');
});

test('a cdk8s-plus workload', () => {
  const objects = synthesized((chart) => {
    const target = new kplus.StatefulSet(chart, 'db', {
      metadata: { name: 'memory' },
      service: new kplus.Service(chart, 'svc', { ports: [{ port: 80 }] }),
      containers: [{ image: 'i', portNumber: 80 }],
    });
    new AgentRuntime(chart, 'rt', { target, type: 'agent' });
  });
  assert.deepEqual(one(objects, 'AgentRuntime')['spec'].targetRef, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: 'memory',
  });
});

test('every field of the spec is a prop, and what is rendered fits the schema', () => {
  const props = {
    type: 'agent',
    authBridgeMode: 'proxy-sidecar',
    mtlsMode: 'strict',
    skills: ['forecast'],
    identity: {
      spiffe: { trustDomain: 'prod.example' },
      allowedAudiences: ['a'],
      clientRegistration: {
        provider: 'keycloak',
        keycloak: { url: 'https://k.example', realm: 'r', adminCredentialsSecret: 's' },
      },
    },
    trace: { endpoint: 'otel:4317', protocol: 'grpc', sampling: { type: 'probabilistic', rate: 0.5 } },
  } satisfies Omit<AgentRuntimeProps, 'target'>;
  const objects = synthesized((chart) => new AgentRuntime(chart, 'rt', { target: reference, ...props }));
  const { spec } = one(objects, 'AgentRuntime') as unknown as { spec: unknown };
  assert.deepEqual(spec, { targetRef: reference, ...props });
  assert.ok(Check(AgentRuntimeSpec, spec));
  assert.deepEqual(Object.keys(spec as object).sort(), Object.keys(AgentRuntimeSpec.properties).sort());
});

test('CS-02 its name follows the target, not the construct', () => {
  const [object] = synthesized((chart) => new AgentRuntime(chart, 'some-id', { target: reference, type: 'agent' }), {
    id: 'else',
  });
  assert.equal(object?.metadata.name, 'weather-agent');
});

test('fromName refers to one that is not made here', () => {
  const objects = synthesized((chart) => {
    const there = AgentRuntime.fromName(chart, 'other', 'billing', { namespace: 'team2' });
    assert.deepEqual([there.name, there.namespace], ['billing', 'team2']);
  });
  assert.deepEqual(objects, []);
});

test('the same name in another kind, group or namespace is another target', () => {
  const targets = [
    reference,
    { ...reference, kind: 'StatefulSet' },
    { ...reference, apiVersion: 'batch/v1', kind: 'Job' },
  ];
  const objects = synthesized((chart) => {
    targets.forEach(
      (target, index) => new AgentRuntime(chart, `rt-${index}`, { target, type: 'agent', name: `rt-${index}` }),
    );
    new AgentRuntime(chart, 'elsewhere', { target: reference, type: 'agent', namespace: 'team2' });
  });
  assert.equal(objects.length, 4);
});

test('a prop that is undefined is a prop that is absent', () => {
  const identity = { spiffe: undefined, allowedAudiences: ['a'] };
  const props = { target: reference, type: 'agent', mtlsMode: undefined, name: undefined, identity };
  const objects = synthesized((chart) => new AgentRuntime(chart, 'rt', props as unknown as AgentRuntimeProps));
  assert.deepEqual(one(objects, 'AgentRuntime')['spec'], {
    type: 'agent',
    targetRef: reference,
    identity: { allowedAudiences: ['a'] },
  });
});

const jobOf = (chart: Chart, spec: object) =>
  new ApiObject(chart, 'job', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec });

test('a Job that is suspended, and one that no longer is', () => {
  for (const suspend of [true, false]) {
    const objects = synthesized((chart) => agent(chart, 'rt', { target: jobOf(chart, { suspend }) }));
    assert.equal(one(objects, 'AgentRuntime').metadata.name, 'once');
  }
});

const agent = (chart: Chart, id: string, props: Partial<AgentRuntimeProps>) =>
  new AgentRuntime(chart, id, { target: reference, type: 'agent', ...props });

const refused: readonly (readonly [what: string, build: (chart: Chart) => void, says: RegExp])[] = [
  [
    'a second runtime for a target',
    (chart) => [
      agent(chart, 'one', {}),
      agent(chart, 'two', { name: 'other', target: { ...reference, apiVersion: 'apps/v2' } }),
    ],
    /\[test\/two\] Deployment weather-agent already has an AgentRuntime at test\/one: remove one/,
  ],
  [
    'a kind that makes no pods we know',
    (chart) => agent(chart, 'rt', { target: { ...reference, kind: 'ReplicaSet' } }),
    /\[test\/rt\] target kind ReplicaSet \(apps\/v1\) is not supported: use one of Deployment \(apps\/v1\), StatefulSet/,
  ],
  [
    'a kind of that name in another group',
    (chart) => agent(chart, 'rt', { target: { ...reference, apiVersion: 'example.test/v1' } }),
    /target kind Deployment \(example\.test\/v1\) is not supported/,
  ],
  [
    'the type label on the workload',
    (chart) => agent(chart, 'rt', { target: deployment(chart, { labels: { 'rossoctl.io/type': 'agent' } }) }),
    /Deployment weather-agent sets rossoctl\.io\/type on its metadata: remove it, the operator sets it/,
  ],
  [
    'the type label on the pod template',
    (chart) => agent(chart, 'rt', { target: deployment(chart, {}, { labels: { 'rossoctl.io/type': 'agent' } }) }),
    /sets rossoctl\.io\/type on its pod template/,
  ],
  [
    'the hash on the pod template',
    (chart) =>
      agent(chart, 'rt', { target: deployment(chart, {}, { annotations: { 'rossoctl.io/config-hash': 'x' } }) }),
    /sets rossoctl\.io\/config-hash on its pod template/,
  ],
  [
    'a Job that would run at once',
    (chart) => agent(chart, 'rt', { target: jobOf(chart, {}) }),
    /\[test\/rt\] Job once does not set spec\.suspend, .*: write suspend: true, and suspend: false once its AgentRuntime is Active/,
  ],
  [
    'a trust domain with a scheme',
    (chart) => agent(chart, 'rt', { identity: { spiffe: { trustDomain: 'spiffe://prod.example' } } }),
    /\[test\/rt\] identity\.spiffe\.trustDomain: "spiffe:\/\/prod\.example" is not allowed; .*without spiffe:\/\//,
  ],
  [
    'an unknown field',
    (chart) => agent(chart, 'rt', { trace: { sampling: { rat: 1 } } } as object),
    /\[test\/rt\] trace\.sampling\.rat: unknown key; did you mean rate\?/,
  ],
  [
    'an unknown prop',
    (chart) => agent(chart, 'rt', { mtlsmode: 'strict' } as object),
    /\[test\/rt\] mtlsmode: unknown key; did you mean mtlsMode\?/,
  ],
  [
    'a reference instead of a workload',
    (chart) => agent(chart, 'rt', { targetRef: reference } as object),
    /\[test\/rt\] targetRef: unknown key; (allowed are target|did you mean target\?)/,
  ],
  [
    'a rate out of bounds',
    (chart) => agent(chart, 'rt', { trace: { sampling: { rate: 2 } } }),
    /trace\.sampling\.rate: 2 is not allowed; must be a number from 0 to 1/,
  ],
  [
    'an endpoint that is none',
    (chart) => agent(chart, 'rt', { trace: { endpoint: 'a b' } }),
    /\[test\/rt\] trace\.endpoint: "a b" is not allowed/,
  ],
  [
    'a mode that is none',
    (chart) => agent(chart, 'rt', { authBridgeMode: 'x' } as object),
    /authBridgeMode: "x" is not/,
  ],
  [
    'no type',
    (chart) => agent(chart, 'rt', { type: undefined } as object),
    /type: is missing; must be one of agent, tool/,
  ],
  [
    'a skill listed twice',
    (chart) => agent(chart, 'rt', { skills: ['a', 'a'] }),
    /skills\[1\]: "a" is listed twice; remove/,
  ],
  [
    'no target',
    (chart) => agent(chart, 'rt', { target: undefined } as object),
    /\[test\/rt\] target: is missing; give the workload: a construct, or \{ apiVersion, kind, name \}/,
  ],
  [
    'a target without its kind',
    (chart) => agent(chart, 'rt', { target: { apiVersion: 'apps/v1', name: 'a' } } as object),
    /\[test\/rt\] target\.kind: is missing; must be text/,
  ],
  [
    'a target’s name that is none',
    (chart) => agent(chart, 'rt', { target: { ...reference, name: 'A b' } }),
    /\[test\/rt\] target\.name: "A b" is not allowed/,
  ],
  ['a name that is none', (chart) => agent(chart, 'rt', { name: 'A_b' }), /\[test\/rt\] name: "A_b" is not allowed/],
  ['a namespace that is none', (chart) => agent(chart, 'rt', { namespace: 'a.b' }), /namespace: "a\.b" is not allowed/],
  [
    'no props at all',
    (chart) => new AgentRuntime(chart, 'rt', undefined as unknown as AgentRuntimeProps),
    /\[test\/rt\] target: is missing/,
  ],
  [
    'a namespace that is not the target’s',
    (chart) => agent(chart, 'rt', { target: deployment(chart, { namespace: 'team1' }), namespace: 'team2' }),
    /the target is in namespace team1, the AgentRuntime in team2: leave namespace out/,
  ],
];
for (const [what, build, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(() => synthesized(build), says);
  });
}
