import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyBudget } from '../../../runtime/engine/body-budget.ts';

test('large bodies share the budget, small ones always fit, a release counts once', () => {
  const budget = bodyBudget(1_000_000);
  const first = budget.take(600_000);
  assert.ok(first);
  assert.equal(budget.take(600_000), undefined);
  assert.ok(budget.take(400_000));
  assert.equal(budget.take(100_000), undefined);
  assert.ok(budget.take(64 * 1024), 'a small one');
  first();
  first();
  assert.ok(budget.take(600_000));
  assert.equal(budget.take(600_000), undefined);
});
