/** The page of conditions: every word that the sources can say is in it, with a meaning. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { agentCardReasons, agentRuntimeReasons, signatureReasons } from '../../../runtime/api/conditions.ts';
import { conditionsPage } from '../../../scripts/reference/conditions.ts';
import { events } from '../../../scripts/reference/events.ts';
import {
  failureMeanings,
  passedPodMeanings,
  passedResourceMeanings,
  refusedPodMeanings,
  refusedResourceMeanings,
} from '../../../scripts/reference/meanings/admission.ts';
import { errorMeanings, synthesisMeanings } from '../../../scripts/reference/meanings/errors.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** What a pattern's first group finds in the sources below some folders, sorted, each once. */
function found(folders: string, pattern: RegExp): readonly string[] {
  const words = globSync(`${folders}/**/*.ts`, { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(pattern)].flatMap((match) => match[1] ?? []),
  );
  return [...new Set(words)].sort();
}

test('every condition type has its heading and every reason its row', () => {
  const page = conditionsPage();
  const tables = { AgentRuntime: agentRuntimeReasons, AgentCard: agentCardReasons };
  for (const [kind, types] of Object.entries(tables)) {
    for (const [type, reasons] of Object.entries<readonly string[]>(types)) {
      const part = page.split(`### ${kind}: ${type}\n`)[1]?.split('\n#')[0] ?? '';
      assert.deepEqual(
        reasons.filter((reason) => !part.includes(`\`${reason}\``)),
        [],
        `${kind} ${type}`,
      );
    }
  }
  assert.deepEqual(
    signatureReasons.filter((reason) => !page.includes(`| \`${reason}\` |`)),
    [],
  );
});

test('the codes of errors are those that the sources throw', () => {
  const thrown = [
    ...found('runtime', /(?:EngineError|super)\(\s*'([A-Z_]+)'/g),
    ...found('runtime', /readonly code = '(\w+)'/g),
  ];
  assert.deepEqual([...new Set(thrown)].sort(), Object.keys(errorMeanings).sort());
  assert.deepEqual(found('{constructs,stacks}', /readonly code = '(\w+)'/g), Object.keys(synthesisMeanings).sort());
});

test('the decisions of the validators and the failures of both are those of the sources', () => {
  const verdicts = [
    ['deny', refusedResourceMeanings],
    ['allow', passedResourceMeanings],
  ] as const;
  for (const [verdict, meanings] of verdicts) {
    const words = found('runtime/validation', new RegExp(`\\b${verdict}\\(\\s*'(\\w+)'`, 'g'));
    assert.deepEqual(words, Object.keys(meanings).sort(), verdict);
  }
  const failures = [...found('runtime/engine', /decision: 'error', reason: '(\w+)'/g), 'other'];
  assert.deepEqual(failures.sort(), Object.keys(failureMeanings).sort());
});

test('what is refused and what is let pass of pods is what the sources say', () => {
  const verdicts = [
    ['deny', refusedPodMeanings],
    ['allow', passedPodMeanings],
  ] as const;
  for (const [verdict, meanings] of verdicts) {
    const words = found('runtime/authbridge', new RegExp(`\\b${verdict}\\([^;]*?reason: '(\\w+)'`, 'g'));
    assert.ok(words.length > 1);
    assert.deepEqual(
      words.filter((word) => !(word in meanings)),
      [],
      verdict,
    );
  }
});

test('an event that the sources write out is in the table', () => {
  const named = found(
    'runtime/{agent-runtime,agent-card,agent-card-sync,network-policy}',
    /\breason: '(\w+)',\s*action:/g,
  );
  assert.ok(named.length >= 4);
  const told = events().flatMap(({ reasons }) => reasons);
  assert.deepEqual(
    [...named, 'NetworkOpened', 'NetworkClosed', 'Configured'].filter((reason) => !told.includes(reason)),
    [],
  );
});
