/** Agent and Tool: the objects whole, and what must hold whatever the props. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { Yaml } from 'cdk8s';
import { Agent, type AgentProps, Tool } from '../../constructs/index.ts';
import { assertGolden } from './golden.ts';
import { one, type Synthesized, synthesized } from './synthesized.ts';

const agent = (props: Partial<AgentProps> = {}, id = 'agent') =>
  synthesized((chart) => new Agent(chart, id, { name: 'weather', image: 'example.test/weather:1', ...props }));

const full: Partial<AgentProps> = {
  namespace: 'team1',
  imagePullPolicy: 'Always',
  port: 9000,
  kind: 'StatefulSet',
  replicas: 2,
  protocols: ['a2a', 'mcp'],
  command: ['python'],
  args: ['-m', 'agent'],
  env: { MODEL: 'small' },
  envFromSecrets: ['model-key'],
  resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
  healthPath: '/healthz',
  user: 1000,
  writableRoot: true,
  serviceAccountName: 'shared',
  labels: { team: 'weather' },
  runtime: { mtlsMode: 'strict', skills: ['forecast', 'history'] },
  card: { syncPeriod: '1m', identityBinding: { scope: 'workload' } },
};

test('golden: an agent with nothing but a name and an image', () => {
  assertGolden('agent-minimal.yaml', Yaml.stringify(...agent()));
});

test('golden: an agent with every prop', () => {
  assertGolden('agent-full.yaml', Yaml.stringify(...agent(full)));
});

test('golden: a tool', () => {
  const objects = synthesized((chart) => new Tool(chart, 'tool', { name: 'search', image: 'example.test/search:1' }));
  assertGolden('tool.yaml', Yaml.stringify(...objects));
});

const workload = (objects: readonly Synthesized[]) =>
  objects.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet') ?? assert.fail('no workload');

for (const [what, props] of [
  ['minimal', {}],
  ['full', full],
] as const) {
  test(`CS-02 ${what}: Service and workload select the pods' own labels, whatever the construct's id`, () => {
    const objects = agent(props);
    const { selector, template } = workload(objects)['spec'];
    for (const wanted of [selector.matchLabels, one(objects, 'Service')['spec'].selector]) {
      assert.deepEqual(wanted, { 'app.kubernetes.io/name': 'weather' });
      for (const [key, value] of Object.entries(wanted)) assert.equal(template.metadata.labels[key], value);
    }
    assert.deepEqual(agent(props, 'another-id'), objects);
  });

  test(`${what}: passes Pod Security restricted`, () => {
    const pod = workload(agent(props))['spec'].template.spec;
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
    for (const { securityContext } of pod.containers) {
      assert.equal(securityContext.allowPrivilegeEscalation, false);
      assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
    }
  });

  test(`GO-02 ${what}: nothing says who manages it, and nothing of the operator's is written`, () => {
    const { metadata, spec } = workload(agent(props)) as Synthesized & { spec: { template: Synthesized } };
    for (const { labels = {}, annotations = {} } of [metadata, spec.template.metadata]) {
      assert.equal(labels['app.kubernetes.io/managed-by'], undefined);
      assert.equal(labels['rossoctl.io/type'], undefined);
      assert.equal(annotations['rossoctl.io/config-hash'], undefined);
    }
  });
}

test('an autoscaler keeps its say: no replicas unless asked for', () => {
  assert.equal('replicas' in workload(agent())['spec'], false);
});

test('a card is kept in the app only when asked for, under the name that the operator would give it', () => {
  const cards = (props: Partial<AgentProps>) => agent(props).filter(({ kind }) => kind === 'AgentCard');
  assert.deepEqual(cards({}), []);
  assert.deepEqual(cards({ card: false }), []);
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };
  const [plain] = cards({ card: true });
  assert.equal(plain?.metadata.name, 'weather-deployment-card');
  assert.deepEqual(plain?.['spec'], { targetRef });
  assert.deepEqual(cards({ card: { syncPeriod: '1m' } })[0]?.['spec'], { targetRef, syncPeriod: '1m' });
  assert.ok('protocol.rossoctl.io/a2a' in (workload(agent({ card: true })).metadata.labels ?? {}));
});

test('what the operator alone sets is refused as a label, whatever key it is', () => {
  for (const key of ['injected', 'defaults-hash', 'keycloak-client-credentials-secret-name', 'config-hash']) {
    const says = new RegExp(`sets rossoctl\\.io/${key} on its pod template: remove it, the operator sets it`);
    assert.throws(() => agent({ labels: { [`rossoctl.io/${key}`]: 'x' } }), says);
  }
  const managedBy = { 'app.kubernetes.io/managed-by': 'rossoctl-operator' };
  assert.throws(() => agent({ labels: managedBy }), /sets app\.kubernetes\.io\/managed-by on its metadata: remove it/);
});

test('another tool may say that it manages the workload', () => {
  const [label, helm] = ['app.kubernetes.io/managed-by', 'Helm'];
  assert.equal(workload(agent({ labels: { [label]: helm } })).metadata.labels?.[label], helm);
});

test('two agents of different names live in one chart', () => {
  const objects = synthesized((chart) => {
    new Agent(chart, 'a', { name: 'a', image: 'i' });
    new Agent(chart, 'b', { name: 'b', image: 'i' });
  });
  assert.equal(objects.length, 8);
});

test('a chart’s namespace is everyone’s namespace', () => {
  const objects = synthesized((chart) => new Agent(chart, 'a', { name: 'a', image: 'i' }), { namespace: 'team1' });
  assert.deepEqual(new Set(objects.map(({ metadata }) => metadata.namespace)), new Set(['team1']));
});

test('CS-02 without a name, the construct’s id is the name of everything', () => {
  const unnamed = synthesized((chart) => {
    assert.equal(new Agent(chart, 'weather', { image: 'example.test/weather:1' }).name, 'weather');
  });
  assert.deepEqual(unnamed, agent());
});

test('refused: two agents with one name', () => {
  const twice = () =>
    synthesized((chart) => {
      new Agent(chart, 'a', { name: 'weather', image: 'i' });
      new Agent(chart, 'b', { name: 'weather', image: 'i' });
    });
  assert.throws(twice, /Deployment weather already has an AgentRuntime/);
});

const refused: readonly (readonly [what: string, act: () => unknown, says: RegExp])[] = [
  [
    'a type of the runtime other than its own',
    () => agent({ runtime: { type: 'tool' } as object, card: true }),
    /runtime\.type: is what the construct says: use Agent for an agent, Tool for a tool/,
  ],
  [
    'a target of another card',
    () => agent({ card: { target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'w' } } as object }),
    /card\.target: is the workload that is made here; leave it out/,
  ],
  [
    'a label that only the operator sets',
    () => agent({ labels: { 'rossoctl.io/type': 'agent' } }),
    /sets rossoctl\.io\/type on its metadata/,
  ],
  [
    'an id that can be no name, without a name',
    () => synthesized((chart) => new Agent(chart, 'Weather 1', { image: 'i' })),
    /^Error: \[test\/Weather 1\] name: the construct's id "Weather 1" is not allowed; must .*; set name, or change the id$/,
  ],
  [
    'a name that a Service cannot have',
    () => agent({ name: '1weather' }),
    /\[test\/agent\] name: "1weather" is not allowed/,
  ],
  ['a name with dots', () => agent({ name: 'a.b' }), /name: "a\.b" is not allowed; .*beginning with a letter/],
  ['an empty name', () => agent({ name: '' }), /name: "" is not allowed/],
  [
    'a name that is too long',
    () => agent({ name: 'a'.repeat(64) }),
    /name: "a+" is not allowed; must be text of 1 to 63/,
  ],
  [
    'a name that is too long for the pods of a StatefulSet',
    () => agent({ name: 'a'.repeat(53), kind: 'StatefulSet' }),
    /name: has 53 characters; a StatefulSet's name has at most 52/,
  ],
  [
    'an empty image',
    () => agent({ image: '' }),
    /\[test\/agent\] image: "" is not allowed; must be text .*Image reference/,
  ],
  ['no image', () => agent({ image: undefined } as object), /image: is missing; must be text .*Image reference/],
  [
    'an image that was never set',
    () => agent({ image: 'registry.example/undefined' }),
    /image: .* ends in undefined: a variable/,
  ],
  [
    'port 0',
    () => agent({ port: 0 }),
    /\[test\/agent\] port: 0 is not allowed; must be a whole number from 1 to 65535/,
  ],
  ['port 65536', () => agent({ port: 65536 }), /port: 65536 is not allowed/],
  ['a port in quotes', () => agent({ port: '80' } as object), /port: "?80"? is a string; write 80 without quotes/],
  ['fewer than no replicas', () => agent({ replicas: -1 }), /replicas: -1 is not allowed/],
  ['root', () => agent({ user: 0 }), /user: 0 is root, .*choose another number, for example 1000/],
  ['the proxy’s user', () => agent({ user: 1337 }), /user: 1337 is the proxy's own user, .*choose another number/],
  [
    'a kind that is none',
    () => agent({ kind: 'Job' } as object),
    /kind: "Job" is not allowed; must be one of Deployment/,
  ],
  ['a namespace that is none', () => agent({ namespace: 'Team 1' }), /namespace: "Team 1" is not allowed/],
  ['an account that is none', () => agent({ serviceAccountName: 'a b' }), /serviceAccountName: "a b" is not allowed/],
  [
    'another name as a label',
    () => agent({ labels: { 'app.kubernetes.io/name': 'x' } }),
    /labels\.app\.kubernetes\.io\/name: is the agent's name, by which its pods are selected; remove it, or set name/,
  ],
  ['a label’s value that is none', () => agent({ labels: { team: 'a b' } }), /labels\.team: "a b" is not allowed/],
  [
    'a number in the environment',
    () => agent({ env: { A: 1 } } as object),
    /env\.A: 1 is a number; write it in quotes/,
  ],
  [
    'an unknown prop',
    () => agent({ imagePullPolice: 'Never' } as object),
    /imagePullPolice: unknown key; did you mean imagePullPolicy\?/,
  ],
  [
    'an override that is none',
    () => agent({ runtime: { mtlsMode: 'on' } } as object),
    /\[test\/agent\/runtime\] mtlsMode: "on" is not allowed; must be one of disabled, permissive, strict/,
  ],
  [
    'a card that is none',
    () => agent({ card: '1m' } as object),
    /\[test\/agent\] card: "1m" is not allowed; must be true, false, or a section such as/,
  ],
  [
    'a card with a period that is too short',
    () => agent({ card: { syncPeriod: '1s' } }),
    /\[test\/agent\/card\] syncPeriod: 1s is too short; the shortest is 5s/,
  ],
  [
    'a card of an agent that speaks no protocol',
    () => agent({ card: true, protocols: [] }),
    /\[test\/agent\] card: needs a protocol to be asked for by; name one in protocols/,
  ],
  [
    'a card of a tool',
    () => synthesized((chart) => new Tool(chart, 'tool', { image: 'i', card: true })),
    /\[test\/tool\] card: is for agents: a tool is never asked for a card; leave it out, or use Agent/,
  ],
  [
    'no props at all',
    () => synthesized((chart) => new Agent(chart, 'agent', undefined as unknown as AgentProps)),
    /\[test\/agent\] image: is missing/,
  ],
];
for (const [what, act, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(act, says);
  });
}
