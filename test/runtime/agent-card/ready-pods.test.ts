/** Which pods are ready to be asked, and in which order. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readyPods } from '../../../runtime/agent-card/ready-pods.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { pod } from './endpoint-fixtures.ts';

const made = (name: string, minute: number, labels: Readonly<Record<string, string>> = {}): Pod => {
  const one = pod(name, ['10.1.0.1'], { labels });
  const creationTimestamp = `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
  return { ...one, metadata: { ...one.metadata, creationTimestamp } };
};
const old = { 'pod-template-hash': 'old' };
const young = { 'pod-template-hash': 'young' };

const rows: readonly (readonly [what: string, pods: readonly Pod[], order: string])[] = [
  ['pods of the newest revision first', [made('a', 1, old), made('b', 9, young)], 'b a'],
  [
    'in a revision the oldest first, so that one more replica changes nothing',
    [made('a', 3, old), made('b', 2, old), made('c', 1, old)],
    'c b a',
  ],
  [
    'a revision is as old as its first pod: an old one that was made again does not make it new',
    [made('a', 1, old), made('b', 20, old), made('c', 9, young)],
    'c a b',
  ],
  [
    'of a StatefulSet by its own label',
    [made('a', 1, { 'controller-revision-hash': 'x-1' }), made('b', 9, { 'controller-revision-hash': 'x-2' })],
    'b a',
  ],
  ['without revisions the oldest first', [made('b', 2), made('a', 5)], 'b a'],
  ['of one time by name', [made('b', 2), made('a', 2)], 'a b'],
  [
    'not one that is not ready, or has no address',
    [pod('a', ['10.1.0.1'], { ready: 'False' }), pod('b', []), { ...pod('c', []), status: {} }, made('d', 1)],
    'd',
  ],
];
for (const [what, pods, order] of rows)
  test(`asked are ${what}`, () => {
    assert.equal(
      readyPods(pods)
        .map(({ name }) => name)
        .join(' '),
      order,
    );
  });

test('of each is told its revision and addresses', () => {
  const [one] = readyPods([pod('a', ['10.1.0.1', 'fd00::1'], { labels: young })]);
  assert.deepEqual([one?.revision, one?.addresses.includes('fd00::1')], ['young', true]);
});
