/** Several installs in one cluster: names that differ, what they share, and every way in which two of an app get in each other's way. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Construct } from 'constructs';
import { AgentNamespace, AgentPlatform, type AgentPlatformProps } from '../../constructs/index.ts';
import { buildApp } from '../../stacks/app.ts';
import { parseSettings } from '../../stacks/settings.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { one, platform, type Synthesized, synthesized } from './synthesized.ts';

const watching = (...namespaces: readonly string[]) => ({ kind: 'namespaced', namespaces }) as const;
const blue = { instance: 'blue', namespace: 'blue-system', watch: watching('team1') } as const;
const green = { instance: 'green', namespace: 'green-system', watch: watching('team2'), crds: 'shared' } as const;

const keyOf = ({ apiVersion, kind, metadata: { namespace = '', name } }: Synthesized) =>
  [apiVersion, kind, namespace, name].join(' ');
const install = (scope: Construct, id: string, props: Partial<AgentPlatformProps>) =>
  new AgentPlatform(scope, id, { image: 'example.test/rossoctl:1', ...props });
const both = (a: Partial<AgentPlatformProps>, b: Partial<AgentPlatformProps>) =>
  synthesized((chart) => {
    install(chart, 'a', a);
    install(chart, 'b', b);
  });

describe('two instances', () => {
  const verification = { requireSignature: true } as const;
  const more = { certificates: 'cert-manager', config: {}, featureGates: {}, verification } as const;

  test('of two apps have no object in common', () => {
    const [first, second] = [platform({ ...blue, ...more }), platform({ ...green, ...more })].map((objects) =>
      objects.map(keyOf),
    );
    assert.deepEqual(
      first?.filter((key) => second?.includes(key)),
      [],
    );
  });

  test('of two apps with an account of one name have no object in common either', () => {
    const serviceAccountName = 'op';
    const [first, second] = [platform({ ...blue, serviceAccountName }), platform({ ...green, serviceAccountName })];
    const keys = second?.map(keyOf);
    assert.deepEqual(
      first?.map(keyOf).filter((key) => keys?.includes(key)),
      [],
    );
    const binding = one(first ?? [], 'ClusterRoleBinding');
    assert.equal(binding.metadata.name, 'rossoctl-operator-blue-cluster-rolebinding');
    assert.deepEqual(binding['subjects'], [{ kind: 'ServiceAccount', name: 'op', namespace: 'blue-system' }]);
  });

  test('have roles of their own, wherever account and instance end', () => {
    const pairs = [
      { ...blue, serviceAccountName: 'x-a', instance: 'b' },
      { ...green, serviceAccountName: 'x', instance: 'a-b' },
      { watch: watching('team3'), serviceAccountName: 'x-a-b', crds: 'shared' as const },
    ].map((props) =>
      platform(props)
        .map(keyOf)
        .filter((key) => key.includes('ClusterRole')),
    );
    const all = pairs.flat();
    assert.equal(all.length, 6);
    assert.equal(new Set(all).size, 6, all.join());
  });

  test('one that has none and one that has have no object in common', () => {
    const plain = platform({ watch: watching('team2') }).map(keyOf);
    const beside = platform({ ...blue, crds: 'shared' }).map(keyOf);
    assert.deepEqual(
      plain.filter((key) => beside.includes(key)),
      [],
    );
  });

  test('every object carries the instance, and so do the operator’s pods; nothing else of a name does', () => {
    const objects = platform({ ...blue, ...more });
    for (const object of objects) {
      assert.equal(object.metadata.labels?.['rossoctl.io/instance'], 'blue', keyOf(object));
    }
    const { template, selector } = one(objects, 'Deployment')['spec'];
    assert.equal(template.metadata.labels['rossoctl.io/instance'], 'blue');
    assert.equal(selector.matchLabels['rossoctl.io/instance'], undefined, 'selectors are fixed');
    assert.ok(template.spec.containers[0].args.includes('--instance=blue'));
    for (const object of platform()) assert.equal(object.metadata.labels?.['rossoctl.io/instance'], undefined);
  });

  test('may write their own registrations and no other', () => {
    const { rules } = one(platform(blue), 'ClusterRole') as unknown as {
      readonly rules: readonly { readonly verbs: readonly string[]; readonly resourceNames?: readonly string[] }[];
    };
    const writing = rules.filter(({ verbs }) => verbs.includes('patch'));
    assert.deepEqual(
      writing.map(({ resourceNames }) => resourceNames),
      [['rossoctl-injector-blue', 'rossoctl-validator-blue']],
    );
  });
});

describe('what installs share', () => {
  const policyOf = (objects: readonly Synthesized[], name = 'signature-label-protection') =>
    JSON.stringify(one(objects, 'ValidatingAdmissionPolicy', name)['spec'].matchConditions);

  test('is left to one of them', () => {
    const shared = platform(green);
    assert.deepEqual(
      shared.filter(
        ({ kind, metadata: { name } }) => kind.startsWith('CustomResource') || name.startsWith('signature'),
      ),
      [],
    );
  });

  test('lets every operator of the app, and those that are listed, label pods with a verdict', () => {
    const elsewhere = { namespace: 'red-system', serviceAccountName: 'red' };
    const objects = both({ ...blue, operators: [elsewhere, elsewhere] }, green);
    const users = ['blue-system:rossoctl-operator-blue', 'red-system:red', 'green-system:rossoctl-operator-green'];
    const listed = users.map((user) => `\\"system:serviceaccount:${user}\\"`).join(', ');
    assert.ok(policyOf(objects).includes(`!(request.userInfo.username in [${listed}])`), policyOf(objects));
    const types = policyOf(objects, 'agent-label-protection-green');
    assert.ok(types.includes('green-system:rossoctl-operator-green'));
    assert.ok(!types.includes('blue-system'), 'types are set in watched namespaces, by the operator that watches them');
  });

  test('agents of an app may be in a namespace of either install, and in no other', () => {
    const build = (name: string) =>
      synthesized((chart) => {
        install(chart, 'a', blue);
        install(chart, 'b', green);
        new AgentNamespace(chart, name, { name });
      });
    assert.ok(build('team2').length > 0);
    assert.throws(
      () => build('team3'),
      (error: Error) => {
        assert.equal(error.message.match(/no platform of the app watches/g)?.length, 1);
        return /\[test\/a\] test\/team3 makes agents welcome in namespace team3/.test(error.message);
      },
    );
  });
});

test('an environment’s settings make an instance, and are refused alike, with their line', () => {
  const settings = (...lines: readonly string[]) =>
    parseSettings(
      ['config:', '  rossoctl:platform:', '    image: a/b:1', ...lines.map((line) => `    ${line}`)].join('\n'),
      'a.yaml',
      { environment: 'a' },
    );
  const listed = ['mode: namespaced', 'namespaces: [{ name: team1 }]'];
  const parsed = settings('instance: blue', 'namespace: blue-system', ...listed);
  const names = manifestsOf(buildApp(parsed)).map(({ metadata }) => metadata.name);
  assert.ok(names.includes('rossoctl-injector-blue'));
  assert.throws(
    () => settings('instance: blue'),
    /line 4.*rossoctl:platform\.instance.*: set mode: namespaced, or leave/s,
  );
  assert.throws(() => settings('instance: blue_', ...listed), /line 4.*instance.*"blue_" is not allowed/s);
  assert.throws(
    () => settings('operators: [{ namespace: a }]', ...listed),
    /operators\[0\]\.serviceAccountName.*is missing/,
  );
});

const refused: readonly (readonly [what: string, act: () => unknown, says: RegExp])[] = [
  [
    'an instance that cannot be',
    () => platform({ ...blue, instance: 'Blue_1' }),
    /\[test\/rossoctl\] instance: "Blue_1" is not allowed; must be .*Name of an install/,
  ],
  ['an instance that is too long', () => platform({ ...blue, instance: 'a'.repeat(33) }), /instance: "a+" is not/],
  ['an empty instance', () => platform({ ...blue, instance: '' }), /instance: "" is not allowed/],
  [
    'an instance that watches everything',
    () => platform({ instance: 'blue' }),
    /\[test\/rossoctl\] instance: is for one install of several, .*: set watch: \{ kind: 'namespaced', .*or leave instance out/,
  ],
  [
    'the only install without its definitions',
    () => platform({ crds: 'shared' }),
    /crds: is for one install of several/,
  ],
  [
    'other operators beside the only one',
    () => platform({ operators: [] }),
    /operators: is for one install of several/,
  ],
  [
    'operators where there is no policy',
    () => platform({ ...green, operators: [] }),
    /operators: says nothing beside crds: shared/,
  ],
  [
    'an operator without its namespace',
    () => platform({ ...blue, operators: [{ serviceAccountName: 'a' }] } as object),
    /operators\[0\]\.namespace/,
  ],
  [
    'an account that reads like another install’s',
    () => platform({ watch: watching('team1'), serviceAccountName: 'rossoctl-operator-blue' }),
    /serviceAccountName: .* instance blue .*: set instance: blue, or choose an account that does not begin with rossoctl-operator-/,
  ],
  ['definitions by nobody', () => platform({ ...blue, crds: 'none' } as object), /crds: "none" .* install, shared/],
  [
    'one that watches everything beside an instance',
    () => both(blue, {}),
    /\[test\/b\] the app already has an AgentPlatform at test\/a: a cluster has one that watches every namespace/,
  ],
  [
    'an instance twice',
    () => both(blue, { ...green, instance: 'blue' }),
    /\[test\/b\] instance: the AgentPlatform at test\/a has the instance blue too: give each another/,
  ],
  [
    'no instance twice',
    () => both({ watch: watching('a') }, { watch: watching('b'), namespace: 'b-system', crds: 'shared' }),
    /instance: the AgentPlatform at test\/a has no instance too: give each another/,
  ],
  [
    'a namespace that both watch',
    () => both(blue, { ...green, watch: watching('team2', 'team1') }),
    /\[test\/b\] watch\.namespaces: team1 is watched by the AgentPlatform at test\/a too: leave it to one of them/,
  ],
  [
    'the own namespace of the other, watched',
    () => both(blue, { ...green, watch: watching('blue-system') }),
    /watch\.namespaces: blue-system is the own namespace of the AgentPlatform at test\/a too/,
  ],
  [
    'an own namespace that the other watches',
    () => both(blue, { ...green, namespace: 'team1' }),
    /\[test\/b\] namespace: team1 is watched by the AgentPlatform at test\/a: .*choose another/,
  ],
  [
    'one own namespace for both',
    () => both(blue, { ...green, namespace: 'blue-system' }),
    /\[test\/b\] namespace: blue-system is the own namespace of the AgentPlatform at test\/a too/,
  ],
  [
    'definitions twice',
    () => both(blue, { ...green, crds: 'install' }),
    /\[test\/b\] crds: the AgentPlatform at test\/a installs the CustomResourceDefinitions already: set crds: 'shared'/,
  ],
  [
    'a namespace that is added late and watched by the other',
    () =>
      synthesized((chart) => {
        install(chart, 'a', blue);
        install(chart, 'b', green).watchNamespace('team1');
      }),
    /watch\.namespaces: team1 is watched by/,
  ],
];
for (const [what, act, says] of refused) test(`refused: ${what}`, () => assert.throws(act, says));
