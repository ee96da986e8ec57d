/** What makes one CustomResourceDefinition accept less than another: a pair of schemas a rule, and the present ones against every release. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { certainNarrowings, type ComparedCrd, narrowings } from '../../../runtime/api/crd-narrowing.ts';
import { crdManifest, crdSources } from '../../../runtime/api/crds.ts';

type Json = Readonly<Record<string, unknown>>;

const version = (schema: Json, more: Json = {}): Json => ({
  name: 'v1',
  served: true,
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
  ...more,
});

const crd = (versions: readonly Json[], more: Json = {}): ComparedCrd => ({
  spec: { group: 'g', scope: 'Namespaced', names: { kind: 'K', plural: 'ks' }, versions, ...more },
});

const between = (from: Json, to: Json) => narrowings(crd([version(from)]), crd([version(to)]));

const string = { type: 'string' };
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });
const keepsUnknown = { 'x-kubernetes-preserve-unknown-fields': true };
const rule = (text: string): Json => ({ ...string, 'x-kubernetes-validations': [{ rule: text }] });

/** Each breaks one rule in one direction; the other direction is wider, unless `bothWays` says what it is. */
const cases: readonly (readonly [what: string, from: Json, to: Json, says: string, bothWays?: string])[] = [
  ['a field removed', object({ a: string, b: string }), object({ a: string }), 'spec.b: no such field'],
  [
    'a nested field removed',
    object({ a: object({ b: string }) }),
    object({ a: object({}) }),
    'spec.a.b: no such field',
  ],
  [
    'a field of a list entry removed',
    { type: 'array', items: object({ a: string }) },
    { type: 'array', items: object({}) },
    'spec[].a: no such field',
  ],
  ['another type', string, { type: 'boolean' }, 'spec: type "boolean" instead of "string"', 'spec: type'],
  ['a number that must be whole', { type: 'number' }, { type: 'integer' }, 'spec: type "integer" instead of "number"'],
  ['a field required', object({ a: string }), object({ a: string }, { required: ['a'] }), 'spec.a: required'],
  ['a value removed', { ...string, enum: ['a', 'b'] }, { ...string, enum: ['a'] }, 'spec: no value "b"'],
  ['values listed', string, { ...string, enum: ['a', 'b'] }, 'spec: only "a", "b"'],
  ['shorter', { ...string, maxLength: 9 }, { ...string, maxLength: 8 }, 'spec: maxLength 8 instead of 9'],
  ['a length where there was none', string, { ...string, maxLength: 8 }, 'spec: maxLength 8 instead of none'],
  ['longer at least', { ...string, minLength: 1 }, { ...string, minLength: 2 }, 'spec: minLength 2 instead of 1'],
  [
    'a smaller number',
    { type: 'number', maximum: 1 },
    { type: 'number', maximum: 0.5 },
    'spec: maximum 0.5 instead of 1',
  ],
  [
    'a bound that is excluded',
    { type: 'number', minimum: 0 },
    { type: 'number', minimum: 0, exclusiveMinimum: true },
    'spec: exclusiveMinimum true instead of none',
  ],
  [
    'fewer entries',
    { type: 'array', items: string, maxItems: 4 },
    { type: 'array', items: string, maxItems: 3 },
    'spec: maxItems 3 instead of 4',
  ],
  [
    'fewer keys',
    { type: 'object', additionalProperties: string, maxProperties: 2 },
    { type: 'object', additionalProperties: string, maxProperties: 1 },
    'spec: maxProperties 1 instead of 2',
  ],
  ['a pattern', string, { ...string, pattern: '^a' }, 'spec: pattern "^a" instead of none'],
  [
    'another pattern',
    { ...string, pattern: '^a' },
    { ...string, pattern: '^b' },
    'spec: pattern "^b" instead of "^a"',
    'spec: pattern',
  ],
  ['a format', string, { ...string, format: 'date-time' }, 'spec: format "date-time" instead of none'],
  ['null no more', { ...string, nullable: true }, string, 'spec: nullable none instead of true'],
  ['a rule', string, rule('self != ""'), 'spec: rule self != ""'],
  [
    'unknown fields dropped',
    object({}, keepsUnknown),
    object({}),
    'spec: x-kubernetes-preserve-unknown-fields none instead of true',
  ],
  [
    'an unknown field given a type',
    object({}, keepsUnknown),
    object({ a: string }, keepsUnknown),
    'spec.a: type "string" instead of none',
  ],
  ['a map closed', { type: 'object', additionalProperties: string }, { type: 'object' }, 'spec: no other fields'],
  [
    'a map of shorter values',
    { type: 'object', additionalProperties: string },
    { type: 'object', additionalProperties: { ...string, maxLength: 1 } },
    'spec.*: maxLength 1 instead of none',
  ],
  [
    'a list merged in another way',
    { type: 'array', items: string },
    { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    'spec: x-kubernetes-list-type "set" instead of none',
    'spec: x-kubernetes-list-type',
  ],
];

describe('a schema that accepts less', () => {
  for (const [what, from, to, says, bothWays] of cases) {
    test(what, () => {
      const [first, ...others] = between(from, to);
      assert.equal(first, `v1 ${says}`);
      // An open map that closes loses the mark and the fields.
      assert.ok(
        others.every((other) => other === 'v1 spec: no other fields'),
        others.join(),
      );
      assert.deepEqual(between(from, from), []);
      const back = between(to, from);
      if (bothWays === undefined) assert.deepEqual(back, []);
      else assert.ok(back.join().startsWith(`v1 ${bothWays}`), back.join());
    });
  }

  test('a required field with a default is no loss, as the API server fills it in', () => {
    const filled = object({ a: { ...string, default: 'x' } }, { required: ['a'] });
    assert.deepEqual(between(object({ a: string }), filled), []);
  });

  test('descriptions and columns are not compared', () => {
    const from = crd([version({ ...string, description: 'a' }, { additionalPrinterColumns: [{ name: 'A' }] })]);
    assert.deepEqual(narrowings(from, crd([version(string)])), []);
  });
});

describe('what may be more', () => {
  const patterned = (pattern: string): Json => ({ ...string, pattern });
  const rows: readonly (readonly [what: string, from: Json, to: Json, isCertain: boolean])[] = [
    ['a pattern that is another', patterned('^[a-z]+$'), patterned('^[a-z0-9]+$'), false],
    ['a pattern where there was none', string, patterned('^a'), true],
    ['alternatives that are others', { anyOf: [patterned('^a')] }, { anyOf: [string] }, false],
    ['a rule in the place of another', rule('self != ""'), rule('true'), false],
    ['a rule where there was none', string, rule('self != ""'), true],
    [
      'a list that is merged in another way',
      { type: 'array' },
      { type: 'array', 'x-kubernetes-list-type': 'set' },
      true,
    ],
  ];
  for (const [what, from, to, isCertain] of rows) {
    test(`${isCertain ? 'is less' : 'is no sign of an older release'}: ${what}`, () => {
      const [before, after] = [crd([version(from)]), crd([version(to)])];
      assert.equal(narrowings(before, after).length, 1);
      assert.equal(certainNarrowings(before, after).length, isCertain ? 1 : 0);
    });
  }
});

describe('a version that accepts less', () => {
  const before = crd([version(string)]);
  const rows: readonly (readonly [what: string, to: ComparedCrd, says: string])[] = [
    ['dropped', crd([version(string, { name: 'v2' })]), 'v1: not served'],
    ['served no more', crd([version(string, { served: false })]), 'v1: not served'],
    ['without status', crd([version(string, { subresources: {} })]), 'v1: no status subresource'],
    ['of another scope', crd([version(string)], { scope: 'Cluster' }), 'scope "Cluster" instead of "Namespaced"'],
    [
      'of another kind',
      crd([version(string)], { names: { kind: 'L', plural: 'ks' } }),
      'names.kind "L" instead of "K"',
    ],
  ];
  for (const [what, to, says] of rows) {
    test(what, () => assert.deepEqual(narrowings(before, to), [says]));
  }

  test('one that is added beside it, and one that was not served, are no loss', () => {
    assert.deepEqual(narrowings(before, crd([version(string), version(string, { name: 'v2' })])), []);
    assert.deepEqual(narrowings(crd([version(string, { served: false })]), crd([])), []);
  });
});

const releases = path.resolve(import.meta.dirname, '../../golden/releases');
for (const file of globSync('*/*.yaml', { cwd: releases }).sort()) {
  test(`what release ${file.replace('/', ' accepted: ')} is accepted and kept`, () => {
    const released = parse(readFileSync(path.join(releases, file), 'utf8')) as ComparedCrd & {
      readonly metadata: { readonly name: string };
    };
    const present = crdSources.map(crdManifest).find(({ metadata }) => metadata.name === released.metadata.name);
    assert.ok(present !== undefined, `${released.metadata.name} is gone`);
    assert.deepEqual(narrowings(released, present), [], 'test/golden/releases/README.md says what to do');
  });
}

test('every resource has a released definition to be held against', () => {
  const released = globSync('*/*.yaml', { cwd: releases }).map((file) => path.basename(file, '.yaml'));
  for (const { facts } of crdSources) {
    assert.ok(released.includes(`agent.rossoctl.dev_${facts.plural}`), facts.plural);
  }
});
