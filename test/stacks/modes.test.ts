/** What changing the mode of an install leaves behind, and that the page about installing names each of it. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { buildApp } from '../../stacks/app.ts';
import { manifestsOf } from '../../stacks/tree.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/install.md'), 'utf8');
const section = /^## From cluster-wide to namespaced[\s\S]*?(?=^## )/m.exec(page)?.[0] ?? '';

/** `kind name` of every object of a mode, lower case as kubectl takes it. */
const objectsOf = (mode: 'cluster' | 'namespaced') =>
  new Set(
    manifestsOf(buildApp({ environment: 'test', platform: { image: 'i', mode, namespaces: [{ name: 'team1' }] } })).map(
      ({ kind, metadata }) => `${kind.toLowerCase()} ${metadata.name}`,
    ),
  );

const both = [
  ['cluster', 'namespaced'],
  ['namespaced', 'cluster'],
] as const;
for (const [from, to] of both) {
  test(`from ${from} to ${to}: what is left over is deleted by name`, () => {
    const left = [...objectsOf(from)].filter((object) => !objectsOf(to).has(object));
    assert.ok(left.length > 0);
    const missing = left.filter((object) => {
      const [kind, name = ''] = object.split(' ');
      return !section.split('\n').some((line) => line.includes(`delete ${kind} `) && line.includes(name));
    });
    assert.deepEqual(missing, []);
  });
}
