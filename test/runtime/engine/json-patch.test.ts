import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import { jsonPatch } from '../../../runtime/engine/json-patch.ts';

/** Applies with an implementation that is not ours, on a copy, and returns what it made. */
function applied(document: unknown, operations: readonly unknown[]): unknown {
  const copy: unknown = structuredClone(document);
  return fastJsonPatch.applyPatch(copy, structuredClone(operations) as fastJsonPatch.Operation[], true).newDocument;
}

/** JSON has neither -0 nor undefined; fast-json-patch refuses `__proto__`. */
const key = fc.string({ maxLength: 4, unit: fc.constantFrom('a', 'b', '/', '~', '0', '1', 'é') });
const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(fc.integer(), fc.string({ maxLength: 5 }), fc.boolean(), fc.constant(null)),
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5, noNullPrototype: true }),
    fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), value: tie('leaf') }, { noNullPrototype: true }), {
      maxLength: 5,
    }),
  ),
}));

/** A copy of `value` with something changed somewhere, every other subtree shared by reference. */
function edited(value: unknown, choice: () => number): unknown {
  const pick = choice() % 6;
  if (Array.isArray(value) && pick > 0) return editedList(value, choice);
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && pick > 0) {
    const keys = Object.keys(value);
    const at = keys[choice() % Math.max(1, keys.length)];
    if (at === undefined || pick === 1) return { ...value, added: { deep: [choice()] } };
    const old = (value as Record<string, unknown>)[at];
    if (pick === 2) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== at));
    return { ...value, [at]: edited(old, choice) };
  }
  return pick === 0 ? { replaced: choice() } : choice();
}

function editedList(list: readonly unknown[], choice: () => number): unknown[] {
  const at = choice() % (list.length + 1);
  const pick = choice() % 4;
  if (pick === 0) return [...list.slice(0, at), { name: 'new' }, ...list.slice(at)];
  if (pick === 1) return [...list.slice(0, at), ...list.slice(at + 1)];
  if (pick === 2) return [{ name: 'first' }, ...list.slice(0, at), 'middle', ...list.slice(at)];
  return list.map((item, index) => (index === at ? edited(item, choice) : item));
}

describe('the patch of two values, applied by another implementation, makes the second of the first', () => {
  test('for any two values', () => {
    fc.assert(
      fc.property(tree, tree, (old, now) => {
        assert.deepEqual(applied(old, jsonPatch(old, now)), now);
      }),
      { numRuns: 2000 },
    );
  });

  test('for a value and its edited self, which shares what was not edited', () => {
    fc.assert(
      fc.property(tree, fc.infiniteStream(fc.nat(1000)), (old, numbers) => {
        const choice = () => Number(numbers.next().value);
        const now = edited(edited(old, choice), choice);
        assert.deepEqual(applied(old, jsonPatch(old, now)), now);
      }),
      { numRuns: 3000 },
    );
  });

  test('a value and itself, or a copy of it, give no operation', () => {
    fc.assert(
      fc.property(tree, (value) => {
        assert.deepEqual(jsonPatch(value, value), []);
        assert.deepEqual(jsonPatch(value, structuredClone(value)), []);
      }),
    );
  });
});

const app = { name: 'app', image: 'example/app' };
const side = { name: 'side', image: 'example/side' };
const init = { name: 'init', image: 'example/init' };

const lists: readonly (readonly [string, unknown[], unknown[], unknown[]])[] = [
  ['append', [app], [app, side], [{ op: 'add', path: '/1', value: side }]],
  ['prepend', [app], [side, app], [{ op: 'add', path: '/0', value: side }]],
  [
    'around',
    [app],
    [init, app, side],
    [
      { op: 'add', path: '/0', value: init },
      { op: 'add', path: '/2', value: side },
    ],
  ],
  ['into an empty list', [], [side], [{ op: 'add', path: '/0', value: side }]],
  ['between equal elements', ['x', 'x'], ['x', 'y', 'x'], [{ op: 'add', path: '/1', value: 'y' }]],
  [
    'removal',
    [init, app, side],
    [app],
    [
      { op: 'remove', path: '/2' },
      { op: 'remove', path: '/0' },
    ],
  ],
  [
    'a changed element beside a new one',
    [app],
    [side, { ...app, tty: true }],
    [
      { op: 'add', path: '/0', value: side },
      { op: 'add', path: '/1/tty', value: true },
    ],
  ],
  [
    'an element changed',
    [app, side],
    [app, { ...side, image: 'v2' }],
    [{ op: 'replace', path: '/1/image', value: 'v2' }],
  ],
  ['another element in its place', [app, side], [app, init], [{ op: 'replace', path: '/1', value: init }]],
];
describe('lists', () => {
  for (const [name, old, now, operations] of lists) {
    test(name, () => assert.deepEqual(jsonPatch(old, now), operations));
  }
});

test('undefined is absence, __proto__ is a key like any other', () => {
  assert.deepEqual(jsonPatch({ a: undefined }, { b: undefined }), []);
  assert.deepEqual(jsonPatch({ a: 1 }, { a: undefined }), [{ op: 'remove', path: '/a' }]);
  const odd: unknown = JSON.parse('{"__proto__": {"x": 1}}');
  assert.deepEqual(jsonPatch({}, odd), [{ op: 'add', path: '/__proto__', value: { x: 1 } }]);
  assert.deepEqual(jsonPatch({ a: [] }, { a: {} }), [{ op: 'replace', path: '/a', value: {} }]);
});

interface PodLike {
  readonly metadata: { readonly annotations?: Record<string, string> | null };
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly env?: readonly unknown[] }[];
    readonly volumes?: readonly unknown[];
    readonly initContainers?: readonly unknown[];
  };
}

/** What an injector does: adds an annotation, volumes, an init container, a container and a variable. */
function injected(pod: PodLike): PodLike {
  const [first, ...others] = pod.spec.containers;
  assert.ok(first);
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, 'rossoctl.io/injected': 'side' } },
    spec: {
      ...pod.spec,
      initContainers: [init, ...(pod.spec.initContainers ?? [])],
      volumes: [...(pod.spec.volumes ?? []), { name: 'run', emptyDir: {} }],
      containers: [{ ...first, env: [...(first.env ?? []), { name: 'PROXY', value: 'on' }] }, ...others, side],
    },
  };
}

const containers = [{ name: 'app', env: [{ name: 'USER', value: 'own' }], ports: [{ containerPort: 8080 }] }];
const pods: readonly (readonly [string, PodLike])[] = [
  ['(a) no annotations', { metadata: {}, spec: { containers, volumes: [{ name: 'mine' }], initContainers: [side] } }],
  ['(a) annotations null', { metadata: { annotations: null }, spec: { containers } }],
  ['(b) a slash in a key', { metadata: { annotations: { 'corp.example/x': '1' } }, spec: { containers } }],
  ['(c) tilde and slash in a key', { metadata: { annotations: { 'a~b/c': '1', 'a~1b': '2' } }, spec: { containers } }],
  ['(d) no volumes, env, initContainers', { metadata: {}, spec: { containers: [{ name: 'app' }] } }],
];
describe('PM-05 the patch creates a parent only when absent, escapes keys and replaces nothing of the user', () => {
  for (const [name, pod] of pods) {
    test(name, () => {
      const now = injected(pod);
      const operations = jsonPatch(pod, now);
      assert.deepEqual(applied(pod, operations), now);
      const owned = operations.filter(({ op, path }) => op !== 'add' && path !== '/metadata/annotations');
      assert.deepEqual(owned, [], 'only additions');
      for (const operation of operations) {
        if (operation.op === 'add')
          assert.ok(!operation.path.endsWith('/-'), 'an index, so that a list that moved is noticed');
      }
      assert.deepEqual(jsonPatch(now, now), []);
    });
  }

  test('an annotation whose key needs escaping is set and removed by its escaped path', () => {
    assert.deepEqual(jsonPatch({ annotations: { x: '1' } }, { annotations: { x: '1', 'a~b/c': '2' } }), [
      { op: 'add', path: '/annotations/a~0b~1c', value: '2' },
    ]);
    assert.deepEqual(jsonPatch({ annotations: { 'corp.example/x': '1' } }, { annotations: {} }), [
      { op: 'remove', path: '/annotations/corp.example~1x' },
    ]);
  });
});

test('the cost follows what was added, not the size of the object', () => {
  const sized = (volumes: number): PodLike => ({
    metadata: { annotations: {} },
    spec: {
      containers: containers.map((container) => ({
        ...container,
        args: Array.from({ length: volumes * 20 }, () => 'word'),
      })),
    },
  });
  const cost = (pod: PodLike): number => {
    const now = injected(pod);
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 20; run += 1) {
      const begun = performance.now();
      for (let i = 0; i < 500; i += 1) jsonPatch(pod, now);
      best = Math.min(best, performance.now() - begun);
    }
    return best;
  };
  const small = cost(sized(1));
  const large = cost(sized(1000));
  assert.ok(large < small * 5, `a pod a thousand times the size cost ${(large / small).toFixed(1)} times as much`);
});
