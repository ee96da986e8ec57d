/** The policies as they are written, one golden file a variant. `UPDATE_GOLDEN=1` accepts what is. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { labels, networkPolicyName } from '../../../runtime/api/names.ts';
import { permissiveRules } from '../../../runtime/network-policy/policies.ts';
import { card, permissive, selector, surroundings } from './fixtures.ts';
import { variants } from './variants.ts';

const folder = path.resolve(import.meta.dirname, '../../golden/network-policy');

for (const [name, policy] of Object.entries(variants)) {
  test(`golden: ${name}`, () => {
    const file = path.join(folder, `${name}.yaml`);
    const actual = stringify(policy, { aliasDuplicateObjects: false });
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, actual);
    }
    assert.equal(actual, readFileSync(file, 'utf8'), `${name} differs; accept with: npm run test:update`);
  });
}

test('no golden file is left of a variant that is no more', () => {
  assert.deepEqual(
    readdirSync(folder).sort(),
    Object.keys(variants)
      .map((name) => `${name}.yaml`)
      .sort(),
  );
});

test('a card’s name that is too long for a label is cut, and the policy is owned by the whole one', () => {
  const name = `${'a'.repeat(200)}-card`;
  const { metadata } = permissive({ card: card({ name }) });
  assert.equal(metadata.labels?.[labels.agentCard]?.length, 63);
  assert.equal(metadata.ownerReferences?.[0]?.name, name);
});

test('names stay within what the API server takes, and two long ones stay two', () => {
  const long = 'w'.repeat(253);
  const names = [
    networkPolicyName(long),
    networkPolicyName(long, 'StatefulSet'),
    networkPolicyName(`${long.slice(1)}x`),
  ];
  assert.equal(new Set(names).size, 3);
  assert.ok(names.every((name) => name.length <= 253));
  assert.equal(networkPolicyName('weather'), 'weather-signature-policy');
  assert.equal(networkPolicyName('weather', 'StatefulSet'), 'weather-signature-policy-statefulset');
});

test('the uid of a policy that is there goes with what is written on it', () => {
  assert.equal(permissive({ uid: 'known' }).metadata.uid, 'known');
  assert.deepEqual(permissive({ podSelector: selector }).spec?.podSelector, selector);
  assert.deepEqual(permissiveRules(surroundings()).egress, [{}]);
});
