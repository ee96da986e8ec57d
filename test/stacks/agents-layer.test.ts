/** The layer of a team: what it makes, and what is refused with file, path and remedy. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { buildApp } from '../../stacks/app.ts';
import { readPlatformFacts, readSettings } from '../../stacks/environments.ts';
import { type PlatformFacts, platformFacts } from '../../stacks/platform-facts.ts';
import { parseSettings } from '../../stacks/settings.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { appOf, pinned, settingsFor } from '../support/environments.ts';

const facts: PlatformFacts = {
  environment: 'test',
  namespace: 'rossoctl-system',
  watched: ['team1', 'team2'],
  requireImageDigest: false,
  injects: { agent: true, tool: false },
};
const layer = (lines: string) =>
  `config:\n  rossoctl:agents:\n    platform: test\n    namespace: team1\n${lines.replaceAll(/^/gm, '    ')}\n`;
const parse = (text: string) => parseSettings(text, 'stacks/Pulumi.team1.yaml', { environment: 'team1' });
const synth = (text: string, on: PlatformFacts | undefined = facts) => manifestsOf(buildApp(parse(text), on));

test('a team’s file is its agents and tools and nothing of the platform', () => {
  const made = manifestsOf(appOf('dev-team1')).map(
    ({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`,
  );
  assert.deepEqual(
    made.filter((each) => each.startsWith('AgentRuntime')),
    ['AgentRuntime team1/billing', 'AgentRuntime team1/search', 'AgentRuntime team1/weather'],
  );
  assert.ok(!made.some((each) => /^(Namespace|CustomResourceDefinition|ClusterRole)/.test(each)));
});

test('what a team must know of its platform is in the platform’s own file', () => {
  const settings = settingsFor('dev-team1');
  assert.deepEqual(readPlatformFacts(settings), {
    environment: 'dev',
    namespace: 'rossoctl-system',
    watched: ['team1', 'team2'],
    requireImageDigest: false,
    injects: { agent: true, tool: false },
  });
  assert.equal(readPlatformFacts(settingsFor('dev')), undefined);
});

test('a platform that watches every namespace serves any that can have agents', () => {
  const { watched: _, ...everywhere } = facts;
  const text = layer('agents:\n  a:\n    image: a:1').replace('team1', 'elsewhere');
  assert.equal(synth(text, everywhere).length, 4);
});

test('production’s agents are pinned by digest', () => {
  const text = layer(`agents:\n  a:\n    image: ${pinned}\ntools:\n  t:\n    image: registry.example/t:1`);
  assert.throws(
    () => synth(text, { ...facts, requireImageDigest: true }),
    /config\.rossoctl:agents\.tools\.t\.image: "registry\.example\/t:1" is not pinned by digest, which the platform test requires; use registry\.example\/t@sha256/,
  );
  assert.equal(synth(text.replace('registry.example/t:1', pinned), { ...facts, requireImageDigest: true }).length, 8);
});

const refused: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  [
    'both layers in one stack',
    `config:\n  rossoctl:platform:\n    image: i\n  rossoctl:agents:\n    platform: dev\n    namespace: a`,
    /line 4: config\.rossoctl:agents: stands beside rossoctl:platform: .*give each its own stack/,
  ],
  [
    'no platform',
    `config:\n  rossoctl:agents:\n    namespace: a`,
    /config\.rossoctl:agents\.platform: is not set: name the environment of the platform/,
  ],
  [
    'no namespace',
    `config:\n  rossoctl:agents:\n    platform: dev`,
    /config\.rossoctl:agents\.namespace: is not set: name the namespace/,
  ],
  [
    'an unknown prop of an agent',
    layer('agents:\n  weather:\n    image: a:1\n    prot: 80'),
    /line 8: config\.rossoctl:agents\.agents\.weather\.prot: unknown key; did you mean port\?/,
  ],
  [
    'a name inside, where the key is the name',
    layer('agents:\n  weather:\n    image: a:1\n    name: other'),
    /agents\.weather\.name: unknown key/,
  ],
  [
    'a namespace inside, where one is for all',
    layer('agents:\n  weather:\n    image: a:1\n    namespace: team2'),
    /line 8: config\.rossoctl:agents\.agents\.weather\.namespace: unknown key; it belongs beside agents, not below it$/,
  ],
  [
    'a secret in a variable',
    layer('agents:\n  weather:\n    image: a:1\n    env:\n      KEY:\n        secure: abc'),
    /agents\.weather\.env\.KEY: is a secret; manifests only name Secrets/,
  ],
  [
    'text for a port',
    layer('tools:\n  search:\n    image: a:1\n    port: "80"'),
    /tools\.search\.port: .*write 80 without quotes/,
  ],
  [
    'a namespace the platform does not watch',
    layer('agents: {}').replace('team1', 'team3'),
    /config\.rossoctl:agents\.namespace: team3 is not watched by the platform test, which watches team1, team2: add it to namespaces there/,
  ],
  [
    'the operator’s own namespace',
    layer('agents: {}').replace('team1', 'rossoctl-system'),
    /agents\.namespace: rossoctl-system is the operator's own namespace.*: choose another/,
  ],
  [
    'an agent and a tool of one name',
    layer('agents:\n  same:\n    image: a:1\ntools:\n  same:\n    image: a:1'),
    /line 9: config\.rossoctl:agents\.tools\.same: has the name of agents\.same, and each would .*: rename one of them$/,
  ],
  [
    'an agent without an image',
    layer('agents:\n  weather: {}'),
    /^Error: stacks\/Pulumi\.team1\.yaml: \[agents\/weather\] image: is missing/,
  ],
  [
    'a StatefulSet with too long a name',
    layer(`tools:\n  ${'a'.repeat(53)}:\n    image: a:1\n    kind: StatefulSet`),
    /line 6: config\.rossoctl:agents\.tools\.a+…: has 53 characters; a StatefulSet's name has at most 52/,
  ],
  [
    'a merge key',
    layer('agents:\n  a: &n\n    image: a:1\n  b:\n    <<: *n'),
    /line 9: config\.rossoctl:agents\.agents\.b\.<<: merge keys are not supported: write the keys out$/,
  ],
  [
    'a name that no Service can have',
    layer('agents:\n  Weather:\n    image: a:1'),
    /line 6: config\.rossoctl:agents\.agents\.Weather: "Weather" is not allowed; must be text: Name of a Service/,
  ],
  [
    'text for the layer',
    'config:\n  rossoctl:agents: hello',
    /line 2: config\.rossoctl:agents: "hello" is a string; must be a section with platform, namespace, agents, tools/,
  ],
];
for (const [what, text, says] of refused) test(`refused: ${what}`, () => assert.throws(() => synth(text), says));

test('refused: a platform that is none, or that there is not', () => {
  const on = (platform: string) => ({ ...settingsFor('dev-team1'), agents: { platform, namespace: 'team1' } });
  assert.throws(() => readPlatformFacts(on('dev-team1')), /platform: dev-team1 is itself a layer of agents/);
  assert.throws(() => readPlatformFacts(on('dve')), /no environment "dve": did you mean dev\?/);
});

test('production’s file says all that its teams must know, without the image that is given at release', () => {
  const on = { ...settingsFor('dev-team1'), agents: { platform: 'production', namespace: 'agents' } };
  assert.equal(readPlatformFacts(on)?.requireImageDigest, true);
  assert.throws(() => readSettings('production'), /image/);
});

test('whose pods get sidecars is what the gates of the platform’s file say', () => {
  const injects = (featureGates: object) => platformFacts('test', { featureGates }).injects;
  assert.deepEqual(injects({}), { agent: true, tool: false });
  assert.deepEqual(injects({ injectTools: true }), { agent: true, tool: true });
  assert.deepEqual(injects({ injectTools: true, globalEnabled: false }), { agent: false, tool: false });
});

test('strict mutual TLS is refused to those whose pods get no identity on the platform', () => {
  const refuses = (featureGates: object) => platformFacts('test', { featureGates }).refusesStrict;
  assert.equal(refuses({}), undefined);
  assert.deepEqual(refuses({ spiffeHelper: false }), ['agent']);
  assert.deepEqual(refuses({ spiffeHelper: false, injectTools: true }), ['agent', 'tool']);
  const strict = 'runtime:\n      mtlsMode: strict';
  const text = layer(`agents:\n  a:\n    image: a:1\n    ${strict}\ntools:\n  t:\n    image: t:1\n    ${strict}`);
  assert.doesNotThrow(() => synth(text));
  const on = { ...facts, refusesStrict: ['agent'] as const };
  assert.throws(
    () => synth(text, on),
    /: config\.rossoctl:agents\.agents\.a\.runtime\.mtlsMode: strict needs an identity, which no pod gets on the platform test, [^;]*$/,
  );
});

test('where namespaces opt in, only those that the platform labels are sure to', () => {
  const namespaces = [{ name: 'a' }, { name: 'b', create: false }];
  const { injects } = platformFacts('test', { requireNamespaceLabel: true, namespaces });
  assert.deepEqual(injects.namespaces, ['a']);
});

test('an agent, a label or a variable may be called secure', () => {
  const text = layer('agents:\n  secure:\n    image: a:1\n    env:\n      secure: "yes"\n      other: "1"');
  assert.equal(synth(text).length, 4);
});
