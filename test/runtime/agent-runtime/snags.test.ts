/** What is wrong with pods that no watch sees: its kinds, its patience, its memory. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createSnags, snagOf } from '../../../runtime/agent-runtime/snags.ts';
import { noPods, type PodCounts } from '../../../runtime/workload/pod-counts.ts';

const lacking = { kind: 'StatefulSet', name: 'weather' };
const rows: readonly {
  readonly reason: string;
  readonly counts?: Partial<PodCounts>;
  readonly unseen?: number;
  readonly rollout?: 'finished' | 'running';
  readonly found: string;
}[] = [
  { reason: 'all is well', found: 'undefined undefined' },
  { reason: 'refused', counts: { refusal: 'no' }, rollout: 'running', found: 'refused 5000' },
  { reason: 'refused says more than lacking', counts: { refusal: 'no', lacking }, unseen: 1, found: 'refused 5000' },
  { reason: 'lacking', counts: { lacking }, unseen: 1, rollout: 'running', found: 'lacking 60000' },
  { reason: 'older pods that a rollout is to replace', unseen: 1, rollout: 'running', found: 'unseen 60000' },
  { reason: 'older pods that nothing replaces', unseen: 1, found: 'unseen 5000' },
];
for (const { reason, counts, unseen = 0, rollout = 'finished', found } of rows) {
  test(`snags: ${reason}`, () => {
    const snag = snagOf({ counts: { ...noPods, ...counts }, unseen, rollout });
    assert.equal(`${snag?.kind} ${snag?.graceMs}`, found);
  });
}

test('a snag lasts from the first look that found it, until a look that finds another or none', () => {
  const snags = createSnags();
  const story: readonly (readonly [what: string | undefined, atMs: number, lastedMs: number])[] = [
    ['a', 100, 0],
    ['a', 150, 50],
    ['a', 7_100, 7_000],
    ['b', 7_200, 0],
    ['b', 7_300, 100],
    [undefined, 7_400, 0],
    ['b', 7_500, 0],
  ];
  for (const [what, atMs, lastedMs] of story) assert.equal(snags.look('uid', what, atMs), lastedMs);
  assert.equal(snags.look('other', 'b', 9_000), 0);
  assert.equal(snags.size, 2);
});

test('the memory of snags is bounded', () => {
  const snags = createSnags();
  for (let at = 0; at < 10_050; at += 1) snags.look(`uid-${at}`, 'a', at);
  assert.equal(snags.size, 10_000);
  assert.equal(snags.look('uid-10049', 'a', 10_149), 100);
});
