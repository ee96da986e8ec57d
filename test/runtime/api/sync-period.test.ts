/** The bounds of an AgentCard's sync period: what is said of a value beyond them, and for what it is taken where it is there already. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { periodOf } from '../../../runtime/agent-card/period.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { syncPeriodFault } from '../../../runtime/api/sync-period.ts';

const day = 86_400_000;
const rows: readonly (readonly [period: string | undefined, fault: string | undefined, takenForMs: number])[] = [
  [undefined, undefined, 30_000],
  ['soon', undefined, 30_000],
  ['4s999ms', '4s999ms is too short; the shortest is 5s', 5_000],
  ['4s1000ms', undefined, 5_000],
  ['24h', undefined, day],
  ['1440m', undefined, day],
  ['24h1s', '24h1s is too long; the longest is 24h', day],
  ['999999999h', '999999999h is too long; the longest is 24h', day],
];
for (const [period, fault, takenForMs] of rows) {
  test(`a sync period of ${period}`, () => {
    assert.equal(syncPeriodFault(period), fault);
    assert.equal(periodOf({ spec: { syncPeriod: period } } as AgentCard), takenForMs);
  });
}
