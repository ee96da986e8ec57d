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

test('refused: two agents with one name', () => {
  const twice = () =>
    synthesized((chart) => {
      new Agent(chart, 'a', { name: 'weather', image: 'i' });
      new Agent(chart, 'b', { name: 'weather', image: 'i' });
    });
  assert.throws(twice, /Deployment weather already has an AgentRuntime/);
});

test('refused: a label that only the operator sets', () => {
  assert.throws(() => agent({ labels: { 'rossoctl.io/type': 'agent' } }), /sets rossoctl\.io\/type on its metadata/);
});
