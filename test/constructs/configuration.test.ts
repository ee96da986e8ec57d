/** Configuration ConfigMaps: the text the operator will read, and what is refused before it gets there. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Chart } from 'cdk8s';
import {
  AgentNamespace,
  type AgentNamespaceProps,
  NamespaceDefaults,
  type NamespaceDefaultsProps,
} from '../../constructs/index.ts';
import { isProblem, parseConfig, parseGates } from '../../runtime/config/sources.ts';
import { one, platform, synthesized } from './synthesized.ts';

const where = { layer: 'platform', where: 'test' } as const;

test('what is set is what the operator reads back', () => {
  const config = {
    spiffe: { trustDomain: 'x.example' },
    trace: { sampling: { rate: 0.25 } },
    identity: { allowedAudiences: [] },
  };
  const objects = platform({ config, featureGates: { injectTools: true } });
  const read = parseConfig(one(objects, 'ConfigMap', 'rossoctl-platform-config')['data']['config.yaml'], where);
  assert.ok(!isProblem(read));
  assert.deepEqual(read.values, config);
  const gates = parseGates(one(objects, 'ConfigMap', 'rossoctl-feature-gates')['data']['feature-gates.yaml'], where);
  assert.ok(!isProblem(gates));
  assert.deepEqual(gates.values, { injectTools: true });
});

test('what is not set makes no ConfigMap', () => {
  assert.equal(
    platform().some(({ kind }) => kind === 'ConfigMap'),
    false,
  );
});

test('namespace defaults are found by their label', () => {
  const objects = synthesized(
    (chart) => new NamespaceDefaults(chart, 'd', { namespace: 'team1', config: { mtls: { mode: 'strict' } } }),
  );
  assert.deepEqual(objects, [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'rossoctl-defaults', namespace: 'team1', labels: { 'rossoctl.io/defaults': 'true' } },
      data: { 'config.yaml': 'mtls:\n  mode: strict\n' },
    },
  ]);
});

test('a namespace for agents takes part in injection, and comes with its defaults', () => {
  const make = (chart: Chart) =>
    new AgentNamespace(chart, 'n', { name: 'team1', defaults: { mtls: { mode: 'strict' } } });
  const objects = synthesized(make, { namespace: 'elsewhere' });
  assert.deepEqual(one(objects, 'Namespace').metadata, { name: 'team1', labels: { 'rossoctl-enabled': 'true' } });
  assert.equal(one(objects, 'ConfigMap').metadata.namespace, 'team1');
  assert.deepEqual(
    synthesized((chart) => new AgentNamespace(chart, 'n', { name: 'team1', create: false })),
    [],
  );
});

const defaults = (chart: Chart, config: object, id = 'd') =>
  new NamespaceDefaults(chart, id, { namespace: 'team1', config });

const refused: readonly (readonly [what: string, build: (chart: Chart) => void, says: RegExp])[] = [
  [
    'an image',
    (chart) => defaults(chart, { images: { sidecar: 'x' } }),
    /\[test\/d\] ConfigMap team1\/rossoctl-defaults, key config\.yaml: .*images.*platform's alone/,
  ],
  ['the proxy’s user', (chart) => defaults(chart, { proxy: { uid: 1 } }), /proxy\.uid.*platform's alone/],
  ['the pace of rollouts', (chart) => defaults(chart, { rollout: { paused: true } }), /rollout.*platform's alone/],
  ['a gate', (chart) => defaults(chart, { injectTools: true }), /feature gates are the platform's alone/],
  [
    'an unknown key',
    (chart) => defaults(chart, { mtls: { mod: 'strict' } }),
    /mtls\.mod: unknown key; did you mean mode\?/,
  ],
  [
    'a value out of bounds',
    (chart) => defaults(chart, { trace: { sampling: { rate: 2 } } }),
    /trace\.sampling\.rate: 2 is not allowed/,
  ],
  [
    'a second set of defaults for a namespace',
    (chart) => [defaults(chart, {}, 'one'), defaults(chart, {}, 'two')],
    /\[test\/two\] namespace team1 already has defaults at test\/one: merge the two/,
  ],
  [
    'a name that is no namespace',
    (chart) => new NamespaceDefaults(chart, 'd', { namespace: 'Team 1', config: {} }),
    /\[test\/d\] namespace: "Team 1" is not allowed; must .*Name of a namespace/,
  ],
  [
    'a name that is no name',
    (chart) => new NamespaceDefaults(chart, 'd', { namespace: 'team1', name: 'A', config: {} }),
    /\[test\/d\] name: "A" is not allowed/,
  ],
  [
    'nothing',
    (chart) => new NamespaceDefaults(chart, 'd', { namespace: 'team1' } as NamespaceDefaultsProps),
    /\[test\/d\] config: is missing; must be a section/,
  ],
  [
    'a namespace for agents without a name',
    (chart) => new AgentNamespace(chart, 'n', {} as AgentNamespaceProps),
    /\[test\/n\] name: is missing; must be text/,
  ],
  [
    'a namespace of Kubernetes for agents',
    (chart) => new AgentNamespace(chart, 'n', { name: 'kube-system' }),
    /\[test\/n\] name: kube-system is Kubernetes' own namespace, where no pod is ever injected/,
  ],
];
for (const [what, build, says] of refused) {
  test(`refused as namespace defaults: ${what}`, () => {
    assert.throws(() => synthesized(build), says);
  });
}
