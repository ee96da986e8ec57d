/** The release: one with package.json, and compared by number. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { type Age, ageOf, release, releasePattern } from '../../../runtime/api/release.ts';

test('the release is that of package.json', () => {
  const file = path.resolve(import.meta.dirname, '../../../package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  assert.equal(release, version);
  assert.match(release, releasePattern);
});

const cases: readonly (readonly [one: string, other: string, age: Age])[] = [
  ['0.1.0', '0.1.0', 'same'],
  ['0.1.0', '0.2.0', 'older'],
  ['0.10.0', '0.9.0', 'newer'],
  ['1.0.0', '0.99.99', 'newer'],
  ['0.2.0-rc.1', '0.2.0', 'older'],
  ['0.2.0-rc.10', '0.2.0-rc.9', 'newer'],
  ['0.2.0-rc.1', '0.1.9', 'newer'],
  ['0.2.0+build.7', '0.2.0', 'same'],
];
for (const [one, other, age] of cases) {
  test(`${one} is ${age} beside ${other}`, () => {
    assert.equal(ageOf(one, other), age);
    const back = { older: 'newer', newer: 'older', same: 'same' } as const;
    assert.equal(ageOf(other, one), back[age]);
  });
}

test('what is no release is seen', () => {
  for (const text of ['', 'latest', 'v1.0.0', '1.0', '1.0.0 ', '1.0.0-']) assert.doesNotMatch(text, releasePattern);
});
