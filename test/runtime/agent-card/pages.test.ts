/** The pages about agent cards name every condition, reason and metric. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agentCardReasons, conditionReason, signatureReasons } from '../../../runtime/api/conditions.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const missing = (words: readonly string[], text: string) => words.filter((word) => !text.includes(`\`${word}`));

test('every condition and reason has a row that says what to do', () => {
  const { NetworkPolicyReady: _, ...ours } = agentCardReasons;
  const words = Object.entries(ours).flatMap(([type, reasons]) => [type, ...reasons]);
  const pages = read('docs/agent-cards.md') + read('docs/identity-binding.md');
  assert.deepEqual(missing([...words, ...signatureReasons.map(conditionReason)], pages), []);
});

test('every metric is in the page', () => {
  const names = [...read('runtime/agent-card/metering.ts').matchAll(/name: '(\w+)'/g)].flatMap(
    (match) => match[1] ?? [],
  );
  assert.ok(names.length >= 7);
  assert.deepEqual(missing(names, read('docs/agent-cards.md')), []);
});
