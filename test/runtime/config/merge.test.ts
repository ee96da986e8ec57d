/** The merge: later wins leaf by leaf, and every leaf knows where it comes from. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { explainConfig } from '../../../runtime/config/explain.ts';
import { gateDefaults } from '../../../runtime/config/feature-gates.ts';
import { mergeLayers } from '../../../runtime/config/merge.ts';
import { leavesOf, overlaid, type Section } from '../../../runtime/config/overlay.ts';
import { compiledDefaults, type PartialConfig } from '../../../runtime/config/platform.ts';
import { layer, layers, runtime } from './layer-values.ts';

test('with no layer everything is the compiled default', () => {
  const { config, gates, origins } = mergeLayers(layers([]));
  assert.deepEqual(config, compiledDefaults);
  assert.deepEqual(gates, gateDefaults);
  assert.deepEqual(new Set([...origins.values()].map((origin) => origin.layer)), new Set(['default']));
});

test('CF-02 the namespace beats the cluster, key by key', () => {
  const { config, origins } = mergeLayers(
    layers([{ identity: { realm: 'default', url: 'https://sso.example' } }, { identity: { realm: 'team1-realm' } }]),
  );
  assert.equal(config.identity.realm, 'team1-realm');
  assert.equal(config.identity.url, 'https://sso.example');
  assert.equal(config.identity.provider, 'keycloak');
  assert.equal(origins.get('identity.realm')?.layer, 'namespace');
  assert.equal(origins.get('identity.url')?.layer, 'platform');
  assert.equal(origins.get('identity.provider')?.layer, 'default');
});

test('all five layers in their order: default, file, platform, namespace, AgentRuntime', () => {
  const trustDomain = (name: string): PartialConfig => ({ spiffe: { trustDomain: name } });
  const configs = [trustDomain('file.example'), trustDomain('platform.example'), trustDomain('namespace.example')];
  const winners = [0, 1, 2, 3].map((count) => mergeLayers(layers(configs.slice(0, count))).config.spiffe.trustDomain);
  assert.deepEqual(winners, ['cluster.local', 'file.example', 'platform.example', 'namespace.example']);
  const { config, origins } = mergeLayers(
    layers(configs),
    runtime({ identity: { spiffe: { trustDomain: 'cr.example' } } }),
  );
  assert.equal(config.spiffe.trustDomain, 'cr.example');
  assert.deepEqual(origins.get('spiffe.trustDomain'), { layer: 'agent-runtime', where: 'AgentRuntime team1/weather' });
});

test('a namespace can go back to the compiled default by saying so', () => {
  const { config, origins } = mergeLayers(layers([{ mtls: { mode: 'strict' } }, { mtls: { mode: 'permissive' } }]));
  assert.equal(config.mtls.mode, 'permissive');
  assert.equal(origins.get('mtls.mode')?.layer, 'namespace');
});

test('lists are replaced whole, also by an empty one; string maps are merged key by key', () => {
  const { config, origins } = mergeLayers(
    layers([
      { tokenExchange: { scopes: ['a', 'b'] }, identity: { allowedAudiences: ['x'] } },
      {
        tokenExchange: { scopes: ['c'] },
        identity: { allowedAudiences: [] },
        resources: { envoyProxy: { requests: { memory: '1Gi', 'example.com/gpu': '1' } } },
      },
    ]),
  );
  assert.deepEqual(config.tokenExchange.scopes, ['c']);
  assert.deepEqual(config.identity.allowedAudiences, []);
  assert.deepEqual(config.resources.envoyProxy.requests, { cpu: '50m', memory: '1Gi', 'example.com/gpu': '1' });
  assert.equal(origins.get('resources.envoyProxy.requests.cpu')?.layer, 'default');
  assert.equal(origins.get('resources.envoyProxy.requests.example.com/gpu')?.layer, 'namespace');
});

test('gates: later wins, an AgentRuntime has no say', () => {
  const { gates, origins } = mergeLayers(
    {
      ...layers([]),
      gates: [layer('file', { injectTools: true, envoyProxy: false }), layer('platform', { injectTools: false })],
    },
    runtime({ mtlsMode: 'strict' }),
  );
  assert.deepEqual(gates, { ...gateDefaults, envoyProxy: false });
  assert.equal(origins.get('featureGates.envoyProxy')?.layer, 'file');
  assert.equal(origins.get('featureGates.injectTools')?.layer, 'platform');
  assert.equal(origins.get('featureGates.globalEnabled')?.layer, 'default');
});

test('the result is frozen throughout and no layer is changed', () => {
  const set: PartialConfig = { identity: { allowedAudiences: ['a'] } };
  const before = structuredClone(set);
  const { config, gates } = mergeLayers(layers([set]));
  for (const value of [
    config,
    config.identity,
    config.identity.allowedAudiences,
    config.resources.envoyProxy.limits,
    gates,
  ]) {
    assert.ok(Object.isFrozen(value));
  }
  assert.deepEqual(set, before);
});

test('an invalid AgentRuntime throws its problem: doubt denies', () => {
  assert.throws(
    () => mergeLayers(layers([]), runtime({ mtlsMode: 'off' as never })),
    /AgentRuntime team1\/weather: spec.mtlsMode/,
  );
});

test('explain: one line a leaf, sorted, with origin; no credential ever', () => {
  const effective = mergeLayers(
    layers([{ identity: { realm: 'team1', url: 'https://admin:hunter2@sso.example' } }], { injectTools: true }),
    runtime({ mtlsMode: 'strict' }),
  );
  const lines = explainConfig(effective);
  assert.equal(lines.length, effective.origins.size);
  assert.deepEqual(lines, [...lines].sort());
  assert.ok(lines.includes('identity.realm = "team1"  (namespace: the namespace layer)'), lines.join('\n'));
  assert.ok(lines.includes('mtls.mode = "strict"  (agent-runtime: AgentRuntime team1/weather)'));
  assert.ok(lines.includes('featureGates.injectTools = true  (platform: the platform layer)'));
  assert.ok(lines.includes('spiffe.volume = "csi"  (compiled default)'));
  assert.ok(lines.includes('identity.url = "https://***@sso.example"  (namespace: the namespace layer)'));
  assert.doesNotMatch(lines.join('\n'), /hunter2/);
});

/** Sections over few keys, so that layers overlap: `s*` sections, `l*` leaves. */
const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
const { section } = fc.letrec<{ section: Section; node: Section }>((tie) => ({
  section: tie('node'),
  node: fc.record(
    { l1: leaf, l2: leaf, l3: leaf, s1: tie('node'), s2: tie('node') },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<Section>,
}));

function reversed(value: Section): Section {
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, key.startsWith('s') ? reversed(inner as Section) : inner]),
  );
}

test('laying over is associative, the identity is the empty section, and later wins', () => {
  fc.assert(
    fc.property(section, section, section, (a, b, c) => {
      assert.deepEqual(overlaid(overlaid(a, b), c), overlaid(a, overlaid(b, c)));
      assert.deepEqual(leavesOf(overlaid({}, a)), leavesOf(a));
      assert.deepEqual(overlaid(a, {}), a);
      const winners = new Map([...leavesOf(a), ...leavesOf(b)]);
      assert.deepEqual(new Map(leavesOf(overlaid(a, b))), winners);
    }),
  );
});

test('the order of keys changes nothing', () => {
  fc.assert(
    fc.property(section, section, (a, b) => {
      assert.deepEqual(overlaid(reversed(a), reversed(b)), overlaid(a, b));
    }),
  );
});
