/** Layers from the cache: absent is not broken, broken is never empty, and nothing is done twice. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configHash } from '../../../runtime/config/config-hash.ts';
import { layersOf } from '../../../runtime/config/read.ts';
import type { Reader } from '../../../runtime/engine/types.ts';
import { cache, layerReader, operatorNamespace, watches } from './config-cache.ts';
import { defaultsConfigMap, platformConfigMap } from './layer-values.ts';

const good = { 'config.yaml': 'identity: {realm: team1}' };
const bad = { 'config.yaml': 'identity: {realn: team1}' };

test('no file and no ConfigMap: layers that set nothing, no problem', () => {
  assert.deepEqual(layerReader().read(cache(), 'team1'), { config: [], gates: [], problems: [], warnings: [] });
});

test('every source in the order of precedence, with where it stands', () => {
  const reader = layerReader('mtls: {mode: strict}', 'injectTools: true');
  const gates = platformConfigMap({
    name: 'rossoctl-feature-gates',
    data: { 'feature-gates.yaml': 'injectTools: false' },
  });
  const all = cache(platformConfigMap({ data: { 'config.yaml': '' } }), defaultsConfigMap({ data: good }), gates);
  const layers = reader.read(all, 'team1');
  assert.deepEqual(
    layers.config.map(({ source }) => `${source.layer}: ${source.where}`),
    [
      'file: file /etc/rossoctl/config.yaml',
      'platform: ConfigMap rossoctl-system/rossoctl-platform-config, key config.yaml',
      'namespace: ConfigMap team1/defaults, key config.yaml',
    ],
  );
  assert.deepEqual(
    layers.gates.map(({ source, values }) => [source.layer, values]),
    [
      ['file', { injectTools: true }],
      ['platform', { injectTools: false }],
    ],
  );
  assert.deepEqual(
    reader.read(all, 'team2').config.map(({ source }) => source.layer),
    ['file', 'platform'],
  );
});

test('a ConfigMap without the expected key is a problem that names the keys it has', () => {
  const { problems, config } = layerReader().read(
    cache(defaultsConfigMap({ data: { 'config.yml': '', b: '' } })),
    'team1',
  );
  assert.deepEqual(config, []);
  assert.deepEqual(
    problems.map(({ kind, message }) => [kind, message]),
    [
      [
        'invalid',
        'ConfigMap team1/defaults, key config.yaml: the ConfigMap has no key config.yaml; its keys are b, config.yml',
      ],
    ],
  );
  const empty = layerReader().read(cache(platformConfigMap()), 'team1');
  assert.match(empty.problems[0]?.message ?? '', /it has no keys at all/);
});

test('a bad layer is a problem and none of its values count; the other layers stand', () => {
  const mixed = { 'config.yaml': 'identity: {realm: team1}\nmtls: {mode: maybe}' };
  const layers = layerReader('mtls: {mode: strict}').read(cache(defaultsConfigMap({ data: mixed })), 'team1');
  assert.deepEqual(
    layers.config.map(({ source }) => source.layer),
    ['file'],
  );
  assert.equal(layers.problems[0]?.path, 'mtls.mode');
  assert.equal(layers.problems[0]?.line, 2);
});

test('two defaults in a namespace: the first by name, with a warning that names them', () => {
  const one = defaultsConfigMap({ name: 'b', data: { 'config.yaml': 'identity: {realm: from-b}' } });
  const two = defaultsConfigMap({ name: 'a', data: { 'config.yaml': 'identity: {realm: from-a}' } });
  const { config, warnings } = layerReader().read(cache(one, two), 'team1');
  assert.deepEqual(
    config.map(({ values }) => values),
    [{ identity: { realm: 'from-a' } }],
  );
  assert.deepEqual(warnings, [
    'namespace team1 has 2 ConfigMaps labelled rossoctl.io/defaults=true (a, b); only the first by name, a, is used: remove the label from the others',
  ]);
});

test('a cache that is not synced throws: not known is not absent', () => {
  const unsynced: Reader = {
    get: () => {
      throw new Error('NotSynced');
    },
    list: () => [],
  };
  assert.throws(() => layerReader().read(unsynced, 'team1'), /NotSynced/);
  assert.throws(() => layerReader().lastGood(unsynced, 'team1'), /NotSynced/);
});

test('the same value until something changes; a new resourceVersion is read', () => {
  const reader = layerReader();
  const first = cache(defaultsConfigMap({ uid: 'u', resourceVersion: '1', data: good }));
  const again = cache(defaultsConfigMap({ uid: 'u', resourceVersion: '1', data: good }));
  const next = cache(
    defaultsConfigMap({ uid: 'u', resourceVersion: '2', data: { 'config.yaml': 'identity: {realm: b}' } }),
  );
  const layers = reader.read(first, 'team1');
  assert.equal(reader.read(first, 'team1'), layers);
  assert.equal(reader.read(again, 'team1'), layers);
  assert.notEqual(reader.read(next, 'team1'), layers);
  assert.deepEqual(reader.read(next, 'team1').config[0]?.values, { identity: { realm: 'b' } });
  assert.deepEqual(reader.read(cache(), 'team1').config, []);
});

test('a metadata change keeps the parsed layer', () => {
  const reader = layerReader();
  const platform = platformConfigMap({ uid: 'p', resourceVersion: '1', data: good });
  const one = reader.read(cache(platform), 'team1').config[0];
  assert.equal(reader.read(cache(platform), 'team2').config[0], one, 'parsed once for all namespaces');
});

test('a changed file is read', () => {
  const reader = layerReader('mtls: {mode: strict}');
  const before = reader.read(cache(), 'team1');
  reader.configFile.current = { path: reader.configFile.current.path, text: 'mtls: {mode: disabled}' };
  const after = reader.read(cache(), 'team1');
  assert.notEqual(configHash(before, 'agent'), configHash(after, 'agent'));
});

test('a ConfigMap that is platform configuration and defaults of its own namespace is judged as each', () => {
  const both = platformConfigMap({ uid: 'u', resourceVersion: '1', data: { 'config.yaml': 'proxy: {uid: 1338}' } });
  const labelled = { ...both, metadata: { ...both.metadata, labels: { 'rossoctl.io/defaults': 'true' } } };
  const { config, problems } = layerReader().read(cache(labelled), operatorNamespace);
  assert.deepEqual(
    config.map(({ source }) => source.layer),
    ['platform'],
  );
  assert.deepEqual(
    problems.map(({ source }) => source.layer),
    ['namespace'],
  );
});

test('layersOf sees what read sees', () => {
  const configMaps = [
    platformConfigMap({ data: good }),
    defaultsConfigMap({ data: bad }),
    defaultsConfigMap({ name: 'z', data: good }),
  ];
  const reader = layerReader('mtls: {mode: strict}', 'envoyProxy: false');
  const offline = layersOf({
    operatorNamespace,
    namespace: 'team1',
    configMaps: [
      ...configMaps,
      platformConfigMap({ namespace: 'team1', data: good }),
      platformConfigMap({ name: 'other', data: good }),
    ],
    configFile: reader.configFile.current,
    gatesFile: reader.gatesFile.current,
  });
  assert.deepEqual(offline, reader.read(cache(...configMaps), 'team1'));
});

test('the watches keep what is read and no more', () => {
  const kept = watches.defaults.keep?.({
    ...defaultsConfigMap({ uid: 'u', resourceVersion: '7', data: good }),
    binaryData: { x: 'AA==' },
  });
  assert.deepEqual(kept, defaultsConfigMap({ uid: 'u', resourceVersion: '7', data: good }));
  assert.equal(watches.defaults.labels, 'rossoctl.io/defaults=true');
  assert.deepEqual(
    [watches.platform.namespace, watches.platform.name],
    [operatorNamespace, 'rossoctl-platform-config'],
  );
  assert.deepEqual([watches.gates.namespace, watches.gates.name], [operatorNamespace, 'rossoctl-feature-gates']);
});

test('on the admission path an unchanged namespace costs three look-ups, and no text is read again', () => {
  const layers = layerReader('mtls: {mode: strict}');
  let looks = 0;
  let texts = 0;
  /** A new object of the same version each time, as a watch that starts anew delivers it; its text tells when it is read. */
  const told = () =>
    Object.defineProperty(platformConfigMap({ uid: 'p', resourceVersion: '1' }), 'data', {
      enumerable: true,
      get: () => ((texts += 1), good),
    });
  const reader = (): Reader => {
    const held = cache(told());
    return {
      get: (...asked) => ((looks += 1), held.get(...asked)),
      list: (...asked) => ((looks += 1), held.list(...asked)),
    };
  };
  const first = layers.lastGood(reader(), 'team1');
  assert.ok(texts > 0);
  [looks, texts] = [0, 0];
  for (let pass = 0; pass < 100; pass += 1) assert.equal(layers.lastGood(reader(), 'team1'), first);
  assert.deepEqual([looks, texts], [300, 0]);
});
