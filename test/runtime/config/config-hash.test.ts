/** The configuration hash: what changes it, what must not, and that order, process and locale leave no trace. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { configHash } from '../../../runtime/config/config-hash.ts';
import { FeatureGates, gateDefaults, type GateName } from '../../../runtime/config/feature-gates.ts';
import { layersOf } from '../../../runtime/config/layers-of.ts';
import { podNeutral, type PartialConfig } from '../../../runtime/config/platform.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { defaultsConfigMap, layers, platformConfigMap, platformSource } from './layer-values.ts';
import { schemaLeaves, setting } from './schema-leaves.ts';

const types = ['agent', 'tool'] as const;
const none = layers([{}]);

/** Numeric-looking keys are enumerated first by the language and locale-aware sorts disagree about the rest. */
const entries: readonly (readonly [string, string])[] = [
  ['10.test/x', '1'],
  ['9.test/x', '2'],
  ['a.test/x', '3'],
  ['a.test/B', '4'],
  ['memory', '5'],
  ['cpu', '6'],
];

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const turned = [...items.slice(by % items.length), ...items.slice(0, by % items.length)];
  return by >= items.length ? turned.toReversed() : turned;
}

function yaml(order: number): string {
  const requests = rotated(entries, order).map(([key, value]) => `      "${key}": "${value}"`);
  const sections = rotated(
    [
      `resources:\n  envoyProxy:\n    requests:\n${requests.join('\n')}`,
      'spiffe: {volume: csi, trustDomain: prod.example}',
      'mtls:\n  mode: strict # why not',
      'trace: {sampling: {rate: 0.25, type: always}}',
    ],
    order,
  );
  return `${sections.join('\n')}\n`;
}

/** RFC 8785 by hand, so that the test does not repeat the code. */
const canonical =
  '{"config":{"mtls":{"mode":"strict"},"resources":{"envoyProxy":{"requests":{"10.test/x":"1","9.test/x":"2","a.test/B":"4","a.test/x":"3","cpu":"6","memory":"5"}}},' +
  '"spiffe":{"trustDomain":"prod.example","volume":"csi"},"trace":{"sampling":{"rate":0.25,"type":"always"}}},"gates":{}}';
const expected = createHash('sha256').update(canonical).digest('hex');

test('CF-01 twenty orders of insertion, one hash: SHA-256 of the canonical JSON', () => {
  for (let order = 0; order < 20; order++) {
    const parsed = parseConfig(yaml(order), platformSource);
    if (isProblem(parsed)) assert.fail(parsed.message);
    assert.equal(configHash({ ...none, config: [parsed] }, 'agent'), expected, `order ${order}`);
  }
});

test('CF-01 another process, another locale, the same hash', () => {
  const script = `
    const [, hash, sources] = process.argv;
    const { configHash } = await import(hash);
    const { parseConfig } = await import(sources);
    const layer = parseConfig(process.env.TEXT, { layer: 'platform', where: 'elsewhere' });
    process.stdout.write(configHash({ config: [layer], gates: [], problems: [], warnings: [] }, 'agent'));
  `;
  const folder = path.resolve(import.meta.dirname, '../../../runtime/config');
  const files = ['config-hash.ts', 'sources.ts'].map((file) => path.join(folder, file));
  const hashes = ['tr_TR.UTF-8', 'sv_SE.UTF-8'].map((locale, order) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script, ...files], {
      env: { ...process.env, LC_ALL: locale, LANG: locale, TZ: 'Pacific/Kiritimati', TEXT: yaml(order * 7) },
      encoding: 'utf8',
    }),
  );
  assert.deepEqual(hashes, [expected, expected]);
});

test('CF-03 compiled defaults and their changes are not in the hash: nothing set, nothing hashed', () => {
  const empty = createHash('sha256').update('{"config":{},"gates":{}}').digest('hex');
  assert.equal(configHash(layers([]), 'agent'), empty);
  assert.equal(configHash(layers([{}, {}, {}]), 'tool'), empty);
  assert.equal(configHash(layers([{ spiffe: {}, resources: { envoyProxy: { requests: {} } } }]), 'agent'), empty);
});

for (const { path: leaf, standard, other } of schemaLeaves()) {
  const isNeutral = podNeutral.some((section) => leaf.startsWith(`${section}.`));
  test(`CF-04 ${leaf} ${isNeutral ? 'changes no pod and no hash' : 'counts, masked it does not'}`, () => {
    for (const type of types) {
      const base = configHash(none, type);
      const changed = configHash(layers([setting(leaf, other)]), type);
      assert.equal(changed !== base, !isNeutral);
      const explicit = configHash(layers([setting(leaf, standard ?? '0')]), type);
      assert.equal(explicit !== base, !isNeutral, 'explicitly set to the default is set');
      assert.equal(explicit !== changed, !isNeutral);
      const masked = (cluster: PartialConfig) => configHash(layers([cluster, setting(leaf, other)]), type);
      assert.equal(
        masked(setting(leaf, standard ?? '0')),
        masked({}),
        'a change beneath the namespace layer is no change',
      );
      assert.equal(masked({}), changed, 'where a value is set does not count');
    }
  });
}

test('CF-04 there are leaves to flip', () => {
  const leaves = schemaLeaves();
  assert.ok(leaves.length >= 40, `${leaves.length} leaves`);
  for (const { path: leaf, standard, other } of leaves) assert.notDeepEqual(other, standard, leaf);
});

test('CF-04 adding and deleting a key changes the hash, and deleting it again restores it', () => {
  const one = configHash(layers([{ identity: { realm: 'a' } }]), 'agent');
  const two = configHash(layers([{ identity: { realm: 'a', url: 'https://b' } }]), 'agent');
  assert.notEqual(one, two);
  assert.equal(configHash(layers([{ identity: { realm: 'a' } }]), 'agent'), one);
});

test('CF-04 a list counts in its order, entries of a map by key', () => {
  const scopes = (...names: string[]) => configHash(layers([{ tokenExchange: { scopes: names } }]), 'agent');
  assert.notEqual(scopes('a', 'b'), scopes('b', 'a'));
  assert.notEqual(scopes(), configHash(none, 'agent'));
});

test('CF-04 labels and annotations of a ConfigMap, its name and its other keys are not in the hash', () => {
  const data = { 'config.yaml': 'identity: {realm: team1}' };
  const hashOf = (...configMaps: Parameters<typeof layersOf>[0]['configMaps']) =>
    configHash(layersOf({ operatorNamespace: 'rossoctl-system', namespace: 'team1', configMaps }), 'agent');
  const one = hashOf(defaultsConfigMap({ data }));
  assert.equal(hashOf(defaultsConfigMap({ name: 'renamed', data: { ...data, 'README.md': 'unrelated' } })), one);
  const labelled = defaultsConfigMap({ data });
  const labels = { ...labelled.metadata.labels, team: 'blue' };
  assert.equal(hashOf({ ...labelled, metadata: { ...labelled.metadata, labels, annotations: { a: 'b' } } }), one);
  assert.equal(hashOf(platformConfigMap({ data })), one, 'the layer that says it does not count');
  assert.notEqual(hashOf(), one);
});

/** Gate → the types whose pods it can change. */
const gateEffects: Readonly<Record<GateName, readonly string[]>> = {
  globalEnabled: ['agent', 'tool'],
  envoyProxy: ['agent', 'tool'],
  spiffeHelper: ['agent', 'tool'],
  clientRegistration: ['agent', 'tool'],
  perWorkloadConfigResolution: ['agent', 'tool'],
  injectTools: ['tool'],
  skillDiscovery: [],
};

for (const gate of Object.keys(FeatureGates.properties) as GateName[]) {
  test(`CF-04 gate ${gate} counts for ${gateEffects[gate].join(' and ') || 'no pod'}`, () => {
    for (const type of types) {
      const flipped = configHash(layers([{}], { [gate]: !gateDefaults[gate] }), type);
      assert.equal(flipped !== configHash(none, type), gateEffects[gate].includes(type), type);
    }
  });
}
