/** Values that no cluster could take, in every construct: each is refused by the construct's path and the prop, in words about the value. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, App, Chart } from 'cdk8s';
import {
  Agent,
  AgentCard,
  AgentNamespace,
  AgentPlatform,
  AgentRuntime,
  CustomResourceDefinitions,
  NamespaceDefaults,
  Tool,
} from '../../constructs/index.ts';
import { synthesized } from './synthesized.ts';

type Props = Readonly<Record<string, unknown>>;
type Made = new (scope: unknown, id: string, props: unknown) => unknown;
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };

/** A construct with the least it needs; callers of a construct do not always type-check. */
const constructs = {
  Agent: [Agent, { image: 'i' }],
  Tool: [Tool, { image: 'i' }],
  AgentRuntime: [AgentRuntime, { type: 'agent', target }],
  AgentCard: [AgentCard, { target }],
  AgentNamespace: [AgentNamespace, { name: 'n' }],
  NamespaceDefaults: [NamespaceDefaults, { namespace: 'n', config: {} }],
  AgentPlatform: [AgentPlatform, { image: 'i' }],
} as const;
type Name = keyof typeof constructs;

function make(name: Name, props: Props, scope: unknown): unknown {
  const [type, least] = constructs[name];
  return new (type as unknown as Made)(scope, 'it', { ...least, ...props });
}

const at = (name: Name, props: Props, namespace?: string) =>
  synthesized((chart) => void make(name, props, chart), namespace === undefined ? {} : { namespace });

const circle: Record<string, unknown> = {};
circle['spiffe'] = circle;

const refused: readonly (readonly [name: Name, props: Props, says: RegExp])[] = [
  [
    'Agent',
    { image: 'registry.example/a@sha256:abc' },
    /image: "registry\.example\/a@sha256:abc" is not allowed; .*digest/,
  ],
  ['AgentPlatform', { image: 'registry.example/a@sha256:…' }, /image: .* is not allowed/],
  [
    'AgentPlatform',
    { image: 'i', verification: { scope: 'workload' } },
    /verification\.scope: says nothing while no signature is verified; set verification\.requireSignature: true/,
  ],
  // Quantities.
  [
    'Agent',
    { resources: { limits: { cpu: 'lots' } } },
    /resources\.limits\.cpu: "lots" is not allowed; .*quantity, for/,
  ],
  [
    'Tool',
    { resources: { requests: { cpu: '-1' } } },
    /resources\.requests\.cpu: "-1" is not allowed; .*quantity, for/,
  ],
  ['AgentPlatform', { resources: { limits: { memory: '1 Gi' } } }, /resources\.limits\.memory: "1 Gi" is not allowed/],
  [
    'Agent',
    { resources: { requests: { cpu: '2' }, limits: { cpu: '1500m' } } },
    /resources\.requests\.cpu: the request 2 is above the limit 1500m; raise resources\.limits\.cpu, or ask for less/,
  ],
  [
    'AgentPlatform',
    { resources: { requests: { memory: '1Gi' }, limits: { memory: '1G' } } },
    /resources\.requests\.memory: the request 1Gi is above the limit 1G/,
  ],
  [
    'Agent',
    { resources: { requests: { memroy: '1Gi' } } },
    /resources\.requests: the key "memroy" is not allowed; .*memory/,
  ],
  ['Agent', { resources: { limits: { cpu: 1 } } }, /resources\.limits\.cpu: 1 is a number; write it in quotes/],
  // Keys of maps.
  ['Agent', { labels: { 'a b': 'c' } }, /labels: the key "a b" is not allowed; must be the key of a label/],
  ['Tool', { env: { 'A=B': 'c' } }, /env: the key "A=B" is not allowed; must be the name of an environment variable/],
  ['Agent', { env: { '': 'c' } }, /env: the key "" is not allowed/],
  // Numbers that are none, and what only a program can write.
  ['Agent', { port: Number.NaN }, /port: NaN is no finite number; must be a whole number from 1 to 65535/],
  ['Agent', { port: 8080n }, /port: 8080n is a bigint; write 8080 without n/],
  ['Tool', { replicas: Infinity }, /replicas: Infinity is no finite number/],
  ['Agent', { user: () => 1000 }, /user: is a function; must be a whole number/],
  ['Agent', { image: Symbol('i') }, /image: Symbol\(i\) is a symbol; must be text/],
  ['Agent', { card: 1n }, /card: 1n is not allowed; must be true, false, or a section/],
  ['Agent', { runtime: { skills: [1n, 1n] } }, /skills\[0\]: 1n is a bigint; must be text/],
  ['Agent', { runtime: circle }, /spiffe: unknown key/],
  ['AgentRuntime', { trace: { sampling: { rate: Number.NaN } } }, /trace\.sampling\.rate: NaN is no finite number/],
  ['AgentRuntime', { target: { ...target, name: 5n } }, /target\.name: 5n is a bigint; must be text/],
  ['AgentCard', { syncPeriod: 5n }, /syncPeriod: 5n is a bigint; must be text .*for example 30s/],
  ['AgentPlatform', { replicas: Number.NaN }, /replicas: NaN is no finite number/],
  ['AgentPlatform', { watch: { kind: 'namespaced', namespaces: [1n] } }, /watch\.namespaces\[0\]: 1n is a bigint/],
  ['AgentPlatform', { config: { proxy: { uid: Number.NaN } } }, /ConfigMap .*proxy\.uid: NaN/],
  ['AgentPlatform', { config: circle }, /\/config\] spiffe: holds itself; must be a value/],
  ['AgentPlatform', { featureGates: { injectTools: () => true } }, /\/config\] injectTools: is a function; must be/],
  ['NamespaceDefaults', { config: { mtls: { mode: Symbol('on') } } }, /mtls\.mode: is a symbol; must be a value/],
  ['NamespaceDefaults', { config: { mtls: new App() } }, /mtls: is the construct ; must be a value/],
  // Namespaces in which no agent can live.
  ...(['Agent', 'Tool', 'AgentRuntime', 'AgentCard', 'NamespaceDefaults'] as const).map(
    (name) =>
      [name, { namespace: 'kube-system' }, /namespace: kube-system is Kubernetes' own .*: choose another/] as const,
  ),
  ['AgentNamespace', { name: 'kube-public' }, /name: kube-public is Kubernetes' own namespace/],
  [
    'AgentPlatform',
    { namespace: 'kube-system' },
    /namespace: kube-system is Kubernetes' own namespace: choose one for/,
  ],
];
for (const [name, props, says] of refused) {
  test(`${name} refuses ${says.source}`, () => {
    assert.throws(
      () => at(name, props),
      (error: Error) => {
        assert.match(error.message, says);
        assert.match(error.message, /\[test\/it[/\]]/);
        return error.constructor === Error;
      },
    );
  });
}

for (const name of ['Agent', 'AgentRuntime', 'AgentCard'] as const) {
  test(`${name} refuses the namespace of its chart, where no agent can live`, () => {
    assert.throws(
      () => at(name, {}, 'kube-system'),
      /\[test\/it\] namespace of the chart: kube-system is Kubernetes' own/,
    );
    assert.throws(() => at(name, {}, 'Team 1'), /\[test\/it\] namespace of the chart: "Team 1" is not allowed/);
  });
}

test('AgentRuntime refuses a workload where no agent can live', () => {
  const made = () =>
    synthesized((chart) => {
      const metadata = { name: 'x', namespace: 'kube-system' };
      const workload = new ApiObject(chart, 'workload', { apiVersion: 'apps/v1', kind: 'Deployment', metadata });
      return new AgentRuntime(chart, 'it', { type: 'agent', target: workload });
    });
  assert.throws(made, /\[test\/it\] target: kube-system is Kubernetes' own namespace/);
});

test('an agent in the operator’s own namespace is refused at synthesis', () => {
  const made = () =>
    synthesized((chart) => {
      new AgentPlatform(chart, 'rossoctl', { image: 'i' });
      new Agent(chart, 'weather', { image: 'i', namespace: 'rossoctl-system' });
    });
  assert.throws(made, /test\/weather\/runtime enrols Deployment weather in the operator's own namespace/);
});

test('AgentRuntime.fromName refuses what can be no name', () => {
  const named = (name: string) => synthesized((chart) => void AgentRuntime.fromName(chart, 'it', name));
  assert.throws(
    () => named('Bad Name'),
    /\[test\/it\] name: "Bad Name" is not allowed; must be text: Name of an object/,
  );
  assert.doesNotThrow(() => named('good'));
});

for (const [name, [type]] of [
  ...Object.entries(constructs),
  ['CustomResourceDefinitions', [CustomResourceDefinitions]],
] as const) {
  test(`${name} outside of a chart is refused by its path, with what to do`, () => {
    const made = () =>
      name === 'CustomResourceDefinitions'
        ? new (type as unknown as Made)(new App(), 'it', {})
        : make(name as Name, {}, new App());
    assert.throws(made, {
      message: `[it] ${name} must be in a chart, not in the app itself: new ${name}(new Chart(app, 'chart'), …)`,
    });
  });
}

const accepted: readonly (readonly [name: Name, props: Props])[] = [
  ['Agent', { resources: { requests: { cpu: '700m' }, limits: { cpu: '0.7' } } }],
  ['Agent', { resources: { requests: { memory: '1024Mi' }, limits: { memory: '1Gi', 'nvidia.com/gpu': '1' } } }],
  ['Agent', { resources: { requests: { cpu: '1' }, limits: { memory: '1Mi', 'hugepages-2Mi': '4Mi' } } }],
  ['Agent', { labels: { 'app.kubernetes.io/part-of': 'x', team: '' }, env: { _A1: '', 'a.b-c': '' } }],
  ['AgentPlatform', { config: { mtls: undefined, spiffe: { trustDomain: 'a.test' } } }],
];
for (const [name, props] of accepted) {
  test(`${name} takes ${JSON.stringify(props)}`, () => {
    assert.doesNotThrow(() => at(name, props));
  });
}

test('a construct in another construct of a chart is in the chart', () => {
  const chart = new Chart(new App(), 'test');
  const agent = new Agent(chart, 'agent', { image: 'i' });
  assert.doesNotThrow(() => new AgentNamespace(agent, 'space', { name: 'n' }));
});
