/** The pages about agent cards name every condition; their reasons and metrics are in the reference. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agentCardReasons } from '../../../runtime/api/conditions.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const missing = (words: readonly string[], text: string) => words.filter((word) => !text.includes(`\`${word}`));

test('every condition is told of', () => {
  const pages = ['agent-cards', 'identity-binding', 'network-policies'].map((page) => read(`docs/${page}.md`));
  assert.deepEqual(missing(Object.keys(agentCardReasons), pages.join('\n')), []);
});
