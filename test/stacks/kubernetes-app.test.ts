/** What Pulumi registers is what the plain YAML holds, and named by the objects alone. */

import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { runtime } from '@pulumi/pulumi';
import { App, Chart } from 'cdk8s';
import { Agent, Tool } from '../../constructs/index.ts';
import { environments } from '../../stacks/environments.ts';
import { KubernetesApp, type KubernetesAppArgs } from '../../stacks/kubernetes-app.ts';
import { type Manifest, manifestsOf } from '../../stacks/tree.ts';
import { appOf } from '../support/environments.ts';

const registered: { readonly type: string; readonly name: string; readonly inputs: Manifest }[] = [];
before(() =>
  runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      if (type.startsWith('kubernetes:')) registered.push({ type, name, inputs: inputs as Manifest });
      return { id: name, state: inputs as object };
    },
    call: () => ({}),
  }),
);

let count = 0;
async function registeredBy(args: KubernetesAppArgs) {
  registered.length = 0;
  const { urns } = new KubernetesApp(`app-${(count += 1)}`, args);
  await Promise.all(urns.map((urn) => new Promise((resolve) => urn.apply(resolve))));
  return [...registered];
}

/** Without what only Pulumi is told. */
function plain({ metadata, ...rest }: Manifest): Manifest {
  const kept = Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith('pulumi.com/'));
  const { annotations: _, ...others } = metadata;
  return { ...rest, metadata: { ...others, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) } };
}

const key = ({ apiVersion, kind, metadata }: Manifest) =>
  `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const sorted = (manifests: readonly Manifest[]) => manifests.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));

for (const environment of environments()) {
  test(`parity: ${environment}`, async () => {
    const found = await registeredBy({ app: appOf(environment), adopt: true });
    assert.deepEqual(sorted(found.map(({ inputs }) => plain(inputs))), sorted(manifestsOf(appOf(environment))));
  });
}

test('types and names are those of the objects, wherever the constructs are', async () => {
  const namesOf = async (id: string) => {
    const chart = new Chart(new App(), id, { namespace: 'team1' });
    new Agent(chart, 'weather', { image: 'example.test/weather:1' });
    return (await registeredBy({ app: App.of(chart) })).map(({ type, name }) => `${type} ${name}`).sort();
  };
  assert.deepEqual(await namesOf('a'), [
    'kubernetes:agent.rossoctl.dev/v1alpha1:AgentRuntime team1/weather',
    'kubernetes:apps/v1:Deployment team1/weather',
    'kubernetes:core/v1:Service team1/weather',
    'kubernetes:core/v1:ServiceAccount team1/weather',
  ]);
  assert.deepEqual(await namesOf('another-place'), await namesOf('a'));
});

test('Pulumi is told what to wait for, or not to wait, and to take over', async () => {
  const hintsOf = async (args: Omit<KubernetesAppArgs, 'app'>, kind: string) => {
    const all = await registeredBy({ app: appOf('local'), ...args });
    return all.find(({ inputs }) => inputs.kind === kind)?.inputs.metadata.annotations;
  };
  const manager = { 'pulumi.com/patchFieldManager': 'pulumi-project-stack' };
  assert.deepEqual(await hintsOf({}, 'MutatingWebhookConfiguration'), {
    ...manager,
    'pulumi.com/waitFor': 'jsonpath={.webhooks[*].clientConfig.caBundle}',
    'pulumi.com/timeoutSeconds': '600',
  });
  assert.deepEqual(await hintsOf({}, 'ConfigMap'), manager);
  assert.deepEqual(await hintsOf({ await: false }, 'MutatingWebhookConfiguration'), {
    ...manager,
    'pulumi.com/skipAwait': 'true',
  });
  assert.deepEqual(await hintsOf({ adopt: true }, 'ConfigMap'), { ...manager, 'pulumi.com/patchForce': 'true' });
});

test('of an AgentRuntime it is waited for the sidecars only where they are meant to be', async () => {
  const chart = new Chart(new App(), 'team', { namespace: 'team1' });
  new Agent(chart, 'weather', { image: 'example.test/weather:1' });
  new Agent(chart, 'bare', { image: 'example.test/bare:1', labels: { 'rossoctl.io/inject': 'disabled' } });
  new Tool(chart, 'search', { image: 'example.test/search:1' });
  const waits = async (args: Omit<KubernetesAppArgs, 'app'>) => {
    const all = (await registeredBy({ app: App.of(chart), ...args })).filter(
      ({ inputs }) => inputs.kind === 'AgentRuntime',
    );
    return all
      .filter(({ inputs: { metadata } }) => metadata.annotations?.['pulumi.com/waitFor']?.includes('PodsInjected'))
      .map(({ inputs: { metadata } }) => metadata.name);
  };
  assert.deepEqual(await waits({}), ['weather']);
  assert.deepEqual(await waits({ injects: { agent: false, tool: true } }), ['search']);
  assert.deepEqual(await waits({ await: false }), []);
});

const agent = (id: string) => {
  const chart = new Chart(new App(), id, { namespace: 'team1' });
  new Agent(chart, 'weather', { image: 'example.test/weather:1' });
  return { chart, app: App.of(chart) };
};
const unfit: readonly (readonly [what: string, args: unknown, says: RegExp])[] = [
  ['no arguments', undefined, /^Error: KubernetesApp mine: app: is missing; must be an app of cdk8s: new App\(\)$/],
  ['the app itself for the arguments', agent('a').app, /KubernetesApp mine: app: is missing/],
  ['an empty section', {}, /app: is missing/],
  ['an app that is none', { app: {} }, /app: is none; must be an app of cdk8s/],
  ['a chart', { app: agent('team').chart }, /app: is the chart team; must be its app: App\.of\(chart\)/],
  [
    'a key that is mistyped',
    { ...agent('a'), chart: undefined, adpot: true },
    /mine: adpot: unknown key; did you mean adopt\?/,
  ],
  ['a resource option', { app: agent('a').app, providers: {} }, /mine: providers: unknown key; allowed are app, /],
  ['text for a switch', { app: agent('a').app, await: 'false' }, /mine: await: /],
  [
    'a release that is none',
    { app: agent('a').app, providerVersion: '^4' },
    /mine: providerVersion: "\^4" is not allowed/,
  ],
  [
    'unknown types',
    { app: agent('a').app, injects: { agents: true } },
    /mine: injects\.agents: unknown key; did you mean agent\?/,
  ],
];
for (const [what, args, says] of unfit) {
  test(`refused before anything is registered: ${what}`, () => {
    registered.length = 0;
    assert.throws(() => new KubernetesApp('mine', args as KubernetesAppArgs), says);
    assert.deepEqual(registered, []);
  });
}

test('refused before anything is registered: what synthesis refuses', () => {
  const { app, chart } = agent('a');
  new Agent(chart, 'again', { image: 'example.test/weather:1', name: 'weather' });
  assert.throws(() => new KubernetesApp('mine', { app }), /are made 2 times, by a\/weather and a\/again/);
});
