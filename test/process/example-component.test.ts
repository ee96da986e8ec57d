/** The component without a cluster, in a process of its own since Pulumi's mocks are the process's: what a team's agents become, under the platform that its stack tells of. */

import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { runtime } from '@pulumi/pulumi';
import { AgentTeam, type AgentTeamArgs } from '../../examples/component/agent-team.ts';
import type { PlatformFacts } from '../../stacks/platform-facts.ts';
import { referencedPlatform } from '../../stacks/referenced-platform.ts';
import type { Manifest } from '../../stacks/tree.ts';

/** What the stacks of this organization have as outputs. */
const namespace = 'rossoctl-system';
const injects = { agent: true, tool: false };
const platform: PlatformFacts = {
  environment: 'dev',
  namespace,
  watched: ['team1'],
  requireImageDigest: false,
  injects,
};
const stacks: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'organization/rossoctl/dev': { platform },
  'organization/other/dev': { url: 'https://other.example' },
};

interface Registered {
  readonly type: string;
  readonly name: string;
  readonly inputs: Manifest;
}

const registered: Registered[] = [];
const mocks: runtime.Mocks = {
  newResource: ({ type, name, inputs }) => {
    registered.push({ type, name, inputs: inputs as Manifest });
    return { id: name, state: inputs as object };
  },
  call: ({ token, inputs }) => {
    const { name } = inputs as { readonly name: string };
    const outputs = token === 'pulumi:pulumi:readStackOutputs' ? stacks[name] : undefined;
    if (outputs === undefined) throw Object.assign(new Error(), { details: `unknown stack "${name}"` });
    return { name, outputs };
  },
};

const weather = { image: 'registry.example/weather:1' };

let count = 0;
/** Registers a team of a name of its own, and returns what it asked for once all of it is there. */
async function registerTeam(args: Partial<AgentTeamArgs>) {
  const name = `team-${(count += 1)}`;
  registered.length = 0;
  const team = new AgentTeam(name, { platform, namespace: 'team1', agents: { weather }, ...args });
  const endpoints = await new Promise((resolve) => team.endpoints.apply(resolve));
  return { name, endpoints, resources: [...registered] };
}

const refusals: readonly (readonly [title: string, args: Partial<AgentTeamArgs>, says: RegExp])[] = [
  [
    'a namespace that is not watched',
    { namespace: 'team3' },
    /^Error: namespace team3 is not watched by the platform dev, which watches team1: have it added there/,
  ],
  [
    'an image by tag where digests are asked for',
    { platform: { environment: 'production', namespace, requireImageDigest: true, injects } },
    /team-\d+\/weather\/workload: .*is not pinned by digest/,
  ],
  ['what the constructs refuse', { agents: { weather: { ...weather, port: 0 } } }, /\[team-\d+\/weather\] port: 0/],
];

before(() => runtime.setMocks(mocks, 'team1', 'dev', false, 'organization'));

test('an agent becomes its objects and a disruption budget, by the rules of the house', async () => {
  const { name, endpoints, resources } = await registerTeam({ await: false });
  assert.deepEqual(resources.map(({ type, name: of }) => `${type} ${of}`).sort(), [
    `example:agents:AgentTeam ${name}`,
    'kubernetes:agent.rossoctl.dev/v1alpha1:AgentRuntime team1/weather',
    'kubernetes:apps/v1:Deployment team1/weather',
    'kubernetes:core/v1:Service team1/weather',
    'kubernetes:core/v1:ServiceAccount team1/weather',
    'kubernetes:policy/v1:PodDisruptionBudget team1/weather',
    `rossoctl:stacks:KubernetesApp ${name}`,
  ]);
  const inputsOf = (kind: string) => resources.find(({ inputs }) => inputs.kind === kind)?.inputs;
  assert.equal(inputsOf('Deployment')?.metadata.labels?.['example.com/team'], name);
  assert.equal(inputsOf('Deployment')?.metadata.annotations?.['pulumi.com/skipAwait'], 'true');
  const { spec } = inputsOf('AgentRuntime') as Manifest & { readonly spec: unknown };
  assert.deepEqual(spec, {
    type: 'agent',
    targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' },
    mtlsMode: 'strict',
  });
  assert.deepEqual(endpoints, { weather: 'http://weather.team1.svc:8080' });
});

for (const [title, args, says] of refusals) {
  test(`refused before anything is created: ${title}`, async () => {
    await assert.rejects(registerTeam(args), says);
    assert.deepEqual(
      registered.filter(({ type }) => type.startsWith('kubernetes:')),
      [],
    );
  });
}

test('the platform is what its stack says; a stack that says nothing of one is refused', async () => {
  assert.deepEqual(await referencedPlatform('rossoctl/dev'), platform);
  await assert.rejects(
    referencedPlatform('other/dev'),
    /stack organization\/other\/dev has no output platform: run pulumi up there first/,
  );
  await assert.rejects(
    referencedPlatform('rossoctl/nosuch'),
    /there is no stack organization\/rossoctl\/nosuch: run pulumi stack init and pulumi up there first/,
  );
});
