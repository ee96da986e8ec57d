/** Which install is meant, and what is its own: read from webhooks and operators, or asked for where they do not tell. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment, WebhookConfiguration } from '../../../runtime/api/kubernetes.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { type Asked, ChoiceError, chosenFrom, installsIn, type Sign } from '../../../runtime/operator/installs.ts';

interface About {
  readonly instance?: string;
  readonly watched?: readonly string[];
}

const labelled = ({ instance }: About) =>
  instance === undefined ? {} : { labels: { 'app.kubernetes.io/instance': instance } };

function registration(namespace: string, about: About = {}): Sign {
  const { watched } = about;
  const selector = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: watched }] };
  const entry = {
    name: 'inject.rossoctl.io',
    clientConfig: { service: { namespace, name: 'rossoctl-webhook' } },
    ...(watched === undefined ? {} : { namespaceSelector: selector }),
  };
  const metadata = { name: `of-${namespace}`, ...labelled(about) };
  return {
    ref: { kind: kinds.mutatingWebhookConfiguration, name: metadata.name },
    registration: { metadata, webhooks: [entry] } as unknown as WebhookConfiguration,
  };
}

function operator(namespace: string, about: About = {}): Sign {
  const env = [{ name: 'NAMESPACES2WATCH', value: about.watched?.join(',') ?? '' }];
  const spec = { template: { spec: { containers: [{ name: 'operator', env }] } } };
  return {
    ref: { kind: kinds.deployment, namespace, name: 'rossoctl-operator' },
    deployment: { metadata: { namespace, ...labelled(about) }, spec } as unknown as Deployment,
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
  const installs = installsIn(signs, { own: asked.namespace ?? 'rossoctl-system', gone });
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
];
describe('an install', () => {
  for (const [what, found, wanted] of chosen) test(what, () => assert.deepEqual(found, wanted));
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
