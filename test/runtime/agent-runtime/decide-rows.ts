/** How the tables of decisions are checked: each row as it stands, and once more after its own plan was carried out. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import { after, now, observed } from './fixtures.ts';

export interface Row {
  readonly reason: string;
  readonly given: Partial<Observed>;
  readonly phase: 'Pending' | 'Active' | 'Error';
  /** `Type=Status/Reason` of each condition that matters here. */
  readonly says: readonly string[];
  /** Types of conditions that must not be there. */
  readonly lacks?: readonly string[];
  readonly message?: RegExp;
  /** Kind and name of each object applied. */
  readonly applies?: readonly string[];
  /** Reasons of the events. */
  readonly events?: readonly string[];
}

export function expectRows(rows: readonly Row[]): void {
  for (const row of rows) {
    test(`decide: ${row.reason}`, () => {
      const plan = decide(observed(row.given), now);
      const conditions = (plan.status?.conditions ?? []).map(
        ({ type, status, reason }) => `${type}=${status}/${reason}`,
      );
      assert.equal(plan.status?.phase, row.phase);
      for (const said of row.says) assert.ok(conditions.includes(said), `${said} not in ${conditions.join(' ')}`);
      for (const type of row.lacks ?? []) assert.ok(!conditions.some((said) => said.startsWith(`${type}=`)), type);
      if (row.message !== undefined) assert.match(plan.status?.message ?? '', row.message);
      const applied = (plan.apply ?? []).map(({ body }) => `${body.kind} ${body.metadata.name}`);
      if (row.applies !== undefined) assert.deepEqual(applied, row.applies);
      if (row.events !== undefined) assert.deepEqual(plan.notices?.map(({ reason }) => reason).sort(), row.events);
    });

    test(`decide is idempotent: ${row.reason}`, () => {
      const before = observed(row.given);
      const next = after(before, decide(before, now));
      const plan = decide(next, new Date(now.getTime() + 1_000));
      assert.deepEqual(plan.apply, []);
      assert.deepEqual(plan.notices, []);
      assert.deepEqual(plan.status, next.runtime.status);
    });
  }
}
