/** The last good value: what the webhook goes on with after a bad edit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configHash } from '../../../runtime/config/config-hash.ts';
import { cache, layerReader } from './config-cache.ts';
import { defaultsConfigMap, platformConfigMap } from './layer-values.ts';

const good = { 'config.yaml': 'identity: {realm: team1}' };
const bad = { 'config.yaml': 'identity: {realn: team1}' };

test('lastGood keeps what was good of the very same object; read tells the truth', () => {
  const reader = layerReader();
  const at = (resourceVersion: string, data: Record<string, string>, uid = 'u') =>
    cache(defaultsConfigMap({ uid, resourceVersion, data }));
  assert.equal(reader.lastGood(at('0', bad), 'team1').problems.length, 1, 'never seen good: doubt');
  const hash = configHash(reader.read(at('1', good), 'team1'), 'agent');
  const afterEdit = reader.lastGood(at('2', bad), 'team1');
  assert.deepEqual([afterEdit.problems, configHash(afterEdit, 'agent')], [[], hash]);
  assert.equal(reader.read(at('2', bad), 'team1').problems.length, 1);
  assert.equal(reader.lastGood(at('3', {}), 'team1').problems.length, 0, 'a key that went missing');
  assert.deepEqual(reader.lastGood(cache(), 'team1').config, [], 'a ConfigMap that was deleted sets nothing');
  assert.equal(reader.lastGood(at('9', bad, 'another'), 'team1').problems.length, 1, 'a namesake is another object');
  assert.deepEqual(
    reader.lastGood(at('4', { 'config.yaml': '' }), 'team1').config[0]?.values,
    {},
    'emptied on purpose',
  );
});

test('lastGood keeps what last agreed when layers contradict each other, and the gates of now', () => {
  const reader = layerReader();
  const at = (resourceVersion: string, text: string, gate: string) =>
    cache(
      platformConfigMap({ uid: 'p', resourceVersion, data: { 'config.yaml': text } }),
      platformConfigMap({
        name: 'rossoctl-feature-gates',
        uid: 'g',
        resourceVersion,
        data: { 'feature-gates.yaml': `globalEnabled: ${gate}` },
      }),
    );
  const before = reader.lastGood(at('1', 'proxy: {adminPort: 20000}', 'true'), 'team1');
  const clash = at('2', 'proxy: {adminPort: 15123}', 'false');
  const after = reader.lastGood(clash, 'team1');
  assert.deepEqual([after.config, after.problems], [before.config, []]);
  assert.deepEqual(after.gates[0]?.values, { globalEnabled: false }, 'the kill switch works at once');
  assert.equal(reader.read(clash, 'team1').problems.length, 1);
  assert.equal(reader.lastGood(clash, 'team2').problems.length, 1, 'never agreed in this namespace');
});

test('lastGood of a file', () => {
  const reader = layerReader('mtls: {mode: strict}');
  const { path } = reader.configFile.current;
  const before = reader.lastGood(cache(), 'team1');
  reader.configFile.current = { path, text: 'mtls: {mode: [' };
  assert.deepEqual(reader.lastGood(cache(), 'team1').config, before.config);
  assert.equal(reader.read(cache(), 'team1').problems[0]?.source.where, `file ${path}`);
});

test('lastGood learns of a good value that another namespace read in between', () => {
  const reader = layerReader('mtls: {mode: [');
  const { path } = reader.configFile.current;
  assert.equal(reader.lastGood(cache(), 'team1').problems.length, 1);
  reader.configFile.current = { path, text: 'mtls: {mode: strict}' };
  reader.read(cache(), 'team2');
  reader.configFile.current = { path, text: 'mtls: {mode: [' };
  assert.equal(reader.lastGood(cache(), 'team1').problems.length, 0);
});
