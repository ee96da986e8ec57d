/** Which install is meant, and what is its own: read from webhooks and operators, or asked for where they do not tell. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment, WebhookConfiguration } from '../../../runtime/api/kubernetes.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { nameOfInstance } from '../../../runtime/api/names.ts';
import { type Asked, ChoiceError, chosenFrom, installsIn, type Sign } from '../../../runtime/operator/installs.ts';

const otherTools = { 'app.kubernetes.io/instance': 'some-application' };

interface About {
  readonly name?: string;
  readonly instance?: string;
  readonly watched?: readonly string[];
}

function registration(namespace: string, { instance, watched }: About = {}): Sign {
  const selector = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: watched }] };
  const entry = {
    name: 'inject.rossoctl.io',
    clientConfig: { service: { namespace, name: 'rossoctl-webhook' } },
    ...(watched === undefined ? {} : { namespaceSelector: selector }),
  };
  // A tool that takes the usual label for its own has written it.
  const metadata = { name: nameOfInstance('rossoctl-injector', instance), labels: otherTools };
  return {
    ref: { kind: kinds.mutatingWebhookConfiguration, name: `of-${namespace}` },
    registration: { metadata, webhooks: [entry] } as unknown as WebhookConfiguration,
  };
}

function operator(namespace: string, { instance, watched, name = 'rossoctl-operator' }: About = {}): Sign {
  const env = [{ name: 'NAMESPACES2WATCH', value: watched?.join(',') ?? '' }];
  const args = ['--replicas=2', ...(instance === undefined ? [] : [`--instance=${instance}`])];
  const spec = { template: { spec: { containers: [{ name: 'operator', args, env }] } } };
  return {
    ref: { kind: kinds.deployment, namespace, name },
    deployment: { metadata: { namespace, labels: otherTools }, spec } as unknown as Deployment,
  };
}

const byUrl: Sign = {
  ref: { kind: kinds.mutatingWebhookConfiguration, name: 'by-url' },
  registration: { metadata: {}, webhooks: [{ clientConfig: { url: 'https://a' } }] } as unknown as WebhookConfiguration,
};
const blue = { instance: 'blue', watched: ['team1'] };
const green = { instance: 'green', watched: ['team2', 'team3'] };
const two = [registration('blue-system', blue), operator('green-system', green), registration('green-system', green)];

function choose(signs: readonly Sign[], asked: Asked = {}, gone: readonly string[] = []) {
  const installs = installsIn(signs, { own: asked.namespace ?? 'rossoctl-system', instance: asked.instance, gone });
  const { namespace, instance, namespaces, registrations, others } = chosenFrom(installs, asked);
  return [namespace, instance, namespaces, registrations.map(({ name }) => name), others.length];
}

const chosen: readonly (readonly [what: string, found: unknown, wanted: unknown])[] = [
  ['nothing at all: the default, everywhere', choose([]), ['rossoctl-system', '', undefined, [], 0]],
  [
    'the only install, in whatever mode: everywhere, also where it does not watch any more',
    choose([registration('rossoctl-system', { watched: ['team1'] })]),
    ['rossoctl-system', '', undefined, ['of-rossoctl-system'], 0],
  ],
  [
    'by its instance, and by its namespace',
    [choose(two, { instance: 'blue' }), choose(two, { namespace: 'blue-system' })],
    [
      ['blue-system', 'blue', ['team1'], ['of-blue-system'], 1],
      ['blue-system', 'blue', ['team1'], ['of-blue-system'], 1],
    ],
  ],
  [
    'whose webhooks are gone: by what its operator watches',
    choose([operator('green-system', green), two[0] as Sign], { instance: 'green' }),
    ['green-system', 'green', ['team2', 'team3'], [], 1],
  ],
  [
    'the last of several: its own namespaces only',
    choose([registration('blue-system', blue)], { instance: 'blue' }),
    ['blue-system', 'blue', ['team1'], ['of-blue-system'], 0],
  ],
  [
    'of which nothing is left: the namespaces that are said',
    choose(two, { namespace: 'red-system', instance: 'red', namespaces: ['team9'] }),
    ['red-system', 'red', ['team9'], [], 2],
  ],
  [
    'beside one that watches a namespace too: that is left alone',
    choose([...two, registration('rossoctl-system', { watched: ['team0', 'team1'] })]),
    ['rossoctl-system', '', ['team0'], ['of-rossoctl-system'], 2],
  ],
  [
    'an older install’s webhooks, whose Service is gone, go with it; an instance’s stay',
    [
      choose([registration('rossoctl-system'), registration('old'), byUrl], {}, ['old']),
      choose([registration('rossoctl-system', { watched: ['a'] }), registration('old', blue)], {}, ['old']),
    ],
    [
      ['rossoctl-system', '', undefined, ['of-rossoctl-system', 'of-old', 'by-url'], 0],
      ['rossoctl-system', '', ['a'], ['of-rossoctl-system'], 1],
    ],
  ],
  [
    'an older install’s webhooks, whose Service is gone, are no instance’s that is taken out beside it',
    [
      choose(
        [registration('plain', { watched: ['team0'] }), registration('blue-system', blue)],
        { namespace: 'blue-system' },
        ['plain'],
      ),
      choose([registration('plain', { watched: ['team0'] }), registration('blue-system', blue)], { instance: 'blue' }, [
        'plain',
        'blue-system',
      ]),
      choose([byUrl, operator('blue-system', blue)], { instance: 'blue' }),
    ],
    [
      ['blue-system', 'blue', ['team1'], ['of-blue-system'], 1],
      ['blue-system', 'blue', ['team1'], ['of-blue-system'], 1],
      ['blue-system', 'blue', ['team1'], [], 1],
    ],
  ],
  [
    'whose namespaces another has taken over, by name or as one that watches all: its webhooks and nothing of its agents',
    [
      choose([registration('blue-system', blue), registration('next-system', { watched: ['team1', 'team2'] })], {
        instance: 'blue',
      }),
      choose([registration('blue-system', blue), registration('rossoctl-system')], { instance: 'blue' }),
      choose([registration('blue-system', blue), operator('rossoctl-system')], { instance: 'blue' }),
    ],
    [
      ['blue-system', 'blue', [], ['of-blue-system'], 1],
      ['blue-system', 'blue', [], ['of-blue-system'], 1],
      ['blue-system', 'blue', [], ['of-blue-system'], 1],
    ],
  ],
  [
    'beside what is left of one that watched all, whose Service is gone',
    choose([registration('blue-system', blue), registration('former')], { instance: 'blue' }, ['former']),
    ['blue-system', 'blue', ['team1'], ['of-blue-system'], 1],
  ],
  [
    'that was given an instance where it is, with what is left of before',
    [
      choose([registration('rossoctl-system', { watched: ['team1'] }), operator('rossoctl-system', blue)]),
      choose([registration('rossoctl-system', { watched: ['team1'] }), registration('rossoctl-system', blue)], {
        instance: 'blue',
      }),
    ],
    [
      ['rossoctl-system', 'blue', ['team1'], ['of-rossoctl-system'], 0],
      ['rossoctl-system', 'blue', ['team1'], ['of-rossoctl-system', 'of-rossoctl-system'], 0],
    ],
  ],
];
describe('an install', () => {
  for (const [what, found, wanted] of chosen) test(what, () => assert.deepEqual(found, wanted));
});

test('every part of an install that was given another name is its own', () => {
  const left = registration('rossoctl-system', { watched: ['team1'] });
  const deployments = [operator('rossoctl-system', blue), operator('rossoctl-system', { ...blue, name: 'other' })];
  const [install] = installsIn([left, ...deployments], { own: 'rossoctl-system', gone: [] });
  assert.deepEqual(
    install?.operators.map(({ name }) => name),
    ['rossoctl-operator', 'other'],
  );
  assert.deepEqual(install?.instances, ['', 'blue']);
});

test('an operator says what it is by flag, in either form, or by variable', () => {
  const said = [
    ['--instance=blue', '--namespaces=team1,team2'],
    ['--instance', 'blue', '--namespaces', 'team1, team2'],
  ];
  for (const args of said) {
    const spec = { template: { spec: { containers: [{ name: 'operator', args }] } } };
    const sign = { ...operator('blue-system'), deployment: { metadata: {}, spec } as unknown as Deployment };
    const [install] = installsIn([sign], { own: 'blue-system', gone: [] });
    assert.deepEqual([install?.instance, install?.namespaces], ['blue', ['team1', 'team2']]);
  }
});

const refused: readonly (readonly [what: string, act: () => unknown, says: RegExp])[] = [
  [
    'none in the default namespace, but others',
    () => choose(two),
    /nothing is seen of an install in namespace rossoctl-system; there is one in blue-system \(instance blue\), and one in green-system .*--namespaces A,B/,
  ],
  [
    'an instance that nobody has seen',
    () => choose(two, { instance: 'red' }),
    /--instance red: nothing is seen of it; .*--namespace NAME/,
  ],
  [
    'an instance of two namespaces',
    () => choose([...two, registration('blue-too', blue)], { instance: 'blue' }),
    /--instance blue: there is one in blue-system \(instance blue\), and one in blue-too/,
  ],
  [
    'another instance than is there',
    () => choose(two, { instance: 'green', namespace: 'blue-system' }),
    /--instance green: .*one in blue-system \(instance blue\)/,
  ],
  [
    'an instance of which nothing is left',
    () => choose([], { instance: 'blue', namespace: 'blue-system' }),
    /which namespaces are those of the install in blue-system cannot be told: name them with --namespaces/,
  ],
  [
    'namespaces that another install watches',
    () => choose(two, { namespace: 'red-system', namespaces: ['team9', 'team2'] }),
    /--namespaces team2: watched by one in green-system \(instance green\): leave out/,
  ],
  [
    'namespaces beside one that watches all',
    () => choose([registration('rossoctl-system')], { namespace: 'red-system', namespaces: ['team9'] }),
    /--namespaces team9: watched by one in rossoctl-system/,
  ],
  [
    'one that watches everything, beside others',
    () => choose([...two, registration('rossoctl-system')]),
    /which namespaces are those of the install in rossoctl-system cannot be told/,
  ],
];
describe('refused:', () => {
  for (const [what, act, says] of refused) {
    test(what, () => assert.throws(act, (error) => error instanceof ChoiceError && says.test(error.message)));
  }
});
