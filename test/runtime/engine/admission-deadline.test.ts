import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deadlineFrom } from '../../../runtime/engine/admission-deadline.ts';

const timeouts: readonly (readonly [string | undefined, number])[] = [
  [undefined, 8000],
  ['', 8000],
  ['soon', 8000],
  ['10s', 9000],
  ['1s', 750],
  ['30s', 27_000],
  ['1m30s', 81_000],
  ['500ms', 250],
  ['200ms', 50],
  ['1.5s', 1250],
  ['0s', 8000],
  ['1s'.repeat(5000), 8000],
];
describe('the deadline is the timeout of the API server less a margin', () => {
  for (const [timeout, ms] of timeouts)
    test(String(timeout).slice(0, 20), () => assert.equal(deadlineFrom(timeout), ms));
});
