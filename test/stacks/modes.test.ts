/** What changing an install's mode, or giving it an instance, leaves behind, and that the page about installing names each of it. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { buildApp } from '../../stacks/app.ts';
import type { PlatformSettings } from '../../stacks/settings-schema.ts';
import { manifestsOf } from '../../stacks/tree.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/install.md'), 'utf8');
const linesOf = (from: RegExp) =>
  (new RegExp(`${from.source}[\\s\\S]*?(?=^## )`, 'm').exec(page)?.[0] ?? '').split('\n');

const common: PlatformSettings & { readonly image: string } = {
  image: 'i',
  namespaces: [{ name: 'team1' }],
  verification: { requireSignature: true },
  networkPolicies: { enforce: true },
};

/** `kind name` of every object, lower case as kubectl takes it. */
const objectsOf = (settings: Partial<PlatformSettings>) =>
  new Set(
    manifestsOf(buildApp({ environment: 'test', platform: { ...common, ...settings } })).map(
      ({ kind, metadata }) => `${kind.toLowerCase()} ${metadata.name}`,
    ),
  );

/** Whether a line deletes it: `delete KIND[,KIND…] NAME…`, or `delete … KIND/NAME …`. */
function isDeleted(object: string, lines: readonly string[]): boolean {
  const [kind = '', name = ''] = object.split(' ');
  const words = lines
    .filter((line) => line.includes(' delete '))
    .map((line) => line.split(/ delete /)[1]?.split(/\s+/) ?? []);
  return words.some(
    ([first = '', ...others]) =>
      [first, ...others].includes(`${kind}/${name}`) || (first.split(',').includes(kind) && others.includes(name)),
  );
}

const modes = /^## From cluster-wide to namespaced/;
const namespaced = { mode: 'namespaced' } as const;
for (const { what, from, to, section } of [
  { what: 'from cluster to namespaced', from: {}, to: namespaced, section: modes },
  { what: 'from namespaced to cluster', from: namespaced, to: {}, section: modes },
  {
    what: 'from no instance to one',
    from: namespaced,
    to: { ...namespaced, instance: 'blue' },
    section: /^To give an install an instance where it is/,
  },
] as const) {
  test(`${what}: what is left over is deleted by name`, () => {
    const left = [...objectsOf(from)].filter((object) => !objectsOf(to).has(object));
    assert.ok(left.length > 0);
    assert.deepEqual(
      left.filter((object) => !isDeleted(object, linesOf(section))),
      [],
    );
  });
}
