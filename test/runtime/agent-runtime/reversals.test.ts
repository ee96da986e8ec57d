/** GO-01: when a removal is repaired, when it is a fight, how long we hold back and when it is over; and who is blamed. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { lastOtherManager } from '../../../runtime/agent-runtime/blame.ts';
import { createReversals, type Look } from '../../../runtime/agent-runtime/reversals.ts';

/** A workload whose version rises with each change somebody makes. */
function story() {
  const reversals = createReversals();
  let version = 1;
  const look = (carries: boolean, atMs: number, more: Partial<Look> = {}) =>
    reversals.look({ uid: 'u', wanted: 'agent h', resourceVersion: String(version), carries, ...more }, atMs);
  return {
    reversals,
    look,
    /** We have applied and it is seen. */
    seen: (atMs: number) => ((version += 1), look(true, atMs)),
    /** Somebody removes it again. */
    undone: (atMs: number) => ((version += 1), look(false, atMs)),
  };
}

test('GO-01 a first enrolment and a single removal by hand are no fight', () => {
  const { look, seen, undone } = story();
  assert.deepEqual(look(false, 0), { kind: 'calm' });
  assert.deepEqual(seen(10), { kind: 'calm' });
  assert.deepEqual(undone(1_000), { kind: 'calm' });
  assert.deepEqual(seen(1_010), { kind: 'calm' });
});

test('GO-01 the same version seen twice is one look at one reversal', () => {
  const { look, undone } = story();
  look(false, 0);
  for (let i = 0; i < 10; i += 1) assert.deepEqual(look(false, i), { kind: 'calm' });
  assert.deepEqual(undone(20), { kind: 'calm' });
  for (let i = 0; i < 10; i += 1) assert.deepEqual(look(false, 30 + i), { kind: 'calm' });
});

test('GO-01 an actor that strips every 3 s for 3 minutes brings about few rollouts', () => {
  const { look, undone, seen } = story();
  let applied = 0;
  let isCarried = false;
  let pausedFor: number[] = [];
  for (let atMs = 0; atMs < 180_000; atMs += 1_000) {
    const isStripped = atMs % 3_000 === 0 && isCarried;
    if (isStripped) isCarried = false;
    if (isCarried) continue;
    const standing = isStripped ? undone(atMs) : look(false, atMs);
    if (standing.kind === 'paused') {
      if (standing.isNew) pausedFor = [...pausedFor, standing.forMs];
      continue;
    }
    applied += 1;
    isCarried = true;
    seen(atMs);
  }
  assert.deepEqual(pausedFor, [10_000, 20_000, 40_000, 80_000, 160_000]);
  assert.ok(applied <= 8, `${applied} rollouts`);
});

test('GO-01 a fight is over after two quiet minutes, and not before', () => {
  const { look, undone, seen } = story();
  look(false, 0);
  for (const atMs of [1_000, 2_000, 3_000]) {
    seen(atMs - 500);
    undone(atMs);
  }
  assert.equal(look(false, 12_999).kind, 'paused');
  assert.deepEqual(look(false, 13_000), { kind: 'probation', forMs: 120_000, manager: '' });
  assert.deepEqual(seen(14_000), { kind: 'probation', forMs: 119_000, manager: '' });
  assert.deepEqual(look(true, 133_000), { kind: 'calm' });
  assert.deepEqual(undone(134_000), { kind: 'calm' });
});

test('GO-01 the pause grows to five minutes and no further', () => {
  const { look, undone, seen } = story();
  look(false, 0);
  let atMs = 1_000;
  let longest = 0;
  for (let i = 0; i < 12; i += 1) {
    seen(atMs - 500);
    const standing = undone(atMs);
    if (standing.kind === 'paused') {
      longest = Math.max(longest, standing.forMs);
      atMs += standing.forMs;
      assert.equal(look(false, atMs).kind, 'probation');
    }
    atMs += 1_000;
  }
  assert.equal(longest, 300_000);
});

test('a new configuration is no reversal', () => {
  const { look, seen } = story();
  look(false, 0);
  seen(1);
  for (let i = 0; i < 5; i += 1) {
    assert.deepEqual(look(false, 2 + i, { wanted: `agent ${i}`, resourceVersion: `n${i}` }), { kind: 'calm' });
  }
});

test('GO-01 the manager found out stands until the end of the fight', () => {
  const { look, undone, seen, reversals } = story();
  look(false, 0);
  for (const atMs of [1_000, 2_000, 3_000]) {
    seen(atMs - 500);
    undone(atMs);
  }
  reversals.blame('u', 'argocd-controller');
  const standing = look(false, 4_000);
  assert.equal(standing.kind === 'paused' && standing.manager, 'argocd-controller');
});

test('the memory is bounded', () => {
  const { reversals } = story();
  for (let i = 0; i < 10_050; i += 1)
    reversals.look({ uid: `u${i}`, wanted: 'w', resourceVersion: '1', carries: false }, i);
  assert.equal(reversals.size, 10_000);
});

test('GO-01 the last manager that is neither ours nor Kubernetes is named', () => {
  const at = (manager: string, time: string, subresource?: string) => ({
    manager,
    time,
    ...(subresource === undefined ? {} : { subresource }),
  });
  const entries = [
    at('kubectl', '2026-01-01T00:00:00Z'),
    at('argocd-controller', '2026-01-01T00:02:00Z'),
    at('rossoctl-agent-runtime', '2026-01-01T00:03:00Z'),
    at('kube-controller-manager', '2026-01-01T00:04:00Z'),
    at('hpa', '2026-01-01T00:05:00Z', 'scale'),
  ];
  assert.equal(lastOtherManager(entries, 'rossoctl-agent-runtime'), 'argocd-controller');
  assert.equal(lastOtherManager([], 'rossoctl-agent-runtime'), undefined);
});
