import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { contains, covers, isPatched } from '../../../runtime/engine/subset.ts';

const container = (name: string, image = 'i') => ({ name, image, env: [{ name: 'A', value: '1' }] });

describe('contains', () => {
  for (const [why, live, fragment, expected] of [
    ['a leaf that is there', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
    ['a leaf with another value', { a: { b: 1 } }, { a: { b: 2 } }, false],
    ['a leaf that is missing', { a: {} }, { a: { b: 1 } }, false],
    ['null and undefined want nothing', { a: 1 }, { a: 1, b: null, c: undefined }, true],
    ['an empty map under metadata wants nothing', { metadata: {} }, { metadata: { labels: {} } }, true],
    ['an empty map elsewhere wants to be there', {}, { emptyDir: {} }, false],
    ['an empty map that is there', { emptyDir: { medium: 'Memory' } }, { emptyDir: {} }, true],
    ['a list that is equal', { args: ['a', 'b'] }, { args: ['a', 'b'] }, true],
    ['a list that is longer', { args: ['a', 'b'] }, { args: ['a'] }, false],
    ['a list in another order', { args: ['a', 'b'] }, { args: ['b', 'a'] }, false],
    [
      'a merged list with others in it',
      { containers: [container('x'), container('y')] },
      { containers: [{ name: 'y', image: 'i' }] },
      true,
    ],
    [
      'a merged list with another value',
      { containers: [container('x')] },
      { containers: [container('x', 'j')] },
      false,
    ],
    ['a merged list without the item', { containers: [container('x')] }, { containers: [container('y')] }, false],
    ['a set with others in it', { finalizers: ['a', 'b'] }, { finalizers: ['b'] }, true],
    ['a set without it', { finalizers: ['a'] }, { finalizers: ['b'] }, false],
    ['an atomic list of objects must be equal', { ports: [{ port: 1, x: 1 }] }, { ports: [{ port: 1 }] }, false],
    [
      'a selector that is replaced as a whole, with one more label',
      { podSelector: { matchLabels: { a: '1', b: '2' } } },
      { podSelector: { matchLabels: { a: '1' } } },
      false,
    ],
    ['no live object', undefined, { a: 1 }, false],
  ] as const) {
    test(`${why}: ${expected}`, () => assert.equal(contains(live, fragment), expected));
  }

  test('a map that its kind replaces as a whole must be equal, however deep the difference', () => {
    const fragment = { status: { card: { skills: { items: [1], env: [{ name: 'A' }], none: null } } } };
    const { card } = fragment.status;
    const is = (live: object) => contains({ status: { card: live } }, fragment, ['card']);
    assert.ok(is(card));
    for (const { skills } of [
      { skills: { ...card.skills, more: 1 } },
      { skills: { ...card.skills, env: [{ name: 'A' }, { name: 'B' }] } },
      { skills: { ...card.skills, none: 1 } },
    ]) {
      assert.ok(!is({ skills }), JSON.stringify(skills));
      assert.ok(contains({ status: { card: { skills } } }, fragment), 'elsewhere it is another’s to add');
    }
  });

  const json = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  test('property: an object contains itself, and any part of its keys', () => {
    fc.assert(
      fc.property(json, fc.func(fc.boolean()), (object, isKept) => {
        const part = Object.fromEntries(Object.entries(object).filter(([key]) => isKept(key)));
        assert.ok(contains(object, object));
        assert.ok(contains(object, part));
      }),
    );
  });
});

describe('covers', () => {
  const body = {
    metadata: { labels: { a: '1', b: '2' }, finalizers: ['f'] },
    spec: { ports: [{ containerPort: 80, name: 'http' }] },
  };
  for (const [why, owned, expected] of [
    ['nothing is owned', undefined, true],
    ['all that is owned is stated', { 'f:metadata': { 'f:labels': { 'f:a': {}, 'f:b': {} } } }, true],
    ['less than what is stated is owned', { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }, true],
    ['an owned label is no longer stated', { 'f:metadata': { 'f:labels': { 'f:gone': {} } } }, false],
    ['an owned map is no longer stated', { 'f:metadata': { 'f:annotations': { 'f:a': {} } } }, false],
    [
      'a list item by its keys, the default protocol among them',
      { 'f:spec': { 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} } } } },
      true,
    ],
    ['another list item', { 'f:spec': { 'f:ports': { 'k:{"containerPort":81,"protocol":"TCP"}': {} } } }, false],
    ['a value of a set', { 'f:metadata': { 'f:finalizers': { 'v:"f"': {} } } }, true],
    ['another value of a set', { 'f:metadata': { 'f:finalizers': { 'v:"g"': {} } } }, false],
  ] as const) {
    test(`${why}: ${expected}`, () => assert.equal(covers(body, owned), expected));
  }

  test('a release states nothing, so it is needed exactly while something is owned', () => {
    const empty = { metadata: { name: 'x' } };
    assert.equal(covers(empty, undefined), true);
    assert.equal(covers(empty, { 'f:metadata': { 'f:labels': { 'f:a': {} } } }), false);
  });
});

test('a merge patch is needed unless its nulls are absent and its leaves equal', () => {
  const live = { metadata: { labels: { a: '1' } }, list: [1] };
  assert.equal(isPatched(live, { metadata: { labels: { a: '1', b: null } }, list: [1] }), true);
  assert.equal(isPatched(live, { metadata: { labels: { a: null } } }), false);
  assert.equal(isPatched(live, { metadata: { annotations: { x: null } } }), true);
  assert.equal(isPatched(live, { metadata: { annotations: { x: '1' } } }), false);
  assert.equal(isPatched(live, { list: [1, 2] }), false);
  assert.equal(isPatched(live, { metadata: null }), false);
});
