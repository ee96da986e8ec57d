/** Whatever the documents hold, the answer is an exit code and sentences: never an internal error. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { configMap, deploymentYaml, inject, podYaml, r0Yaml } from './run-cli.ts';
import { pathsOf, replaced, review } from './spoiled.ts';

const documents: readonly object[] = [
  podYaml,
  r0Yaml,
  deploymentYaml,
  configMap('rossoctl-system', 'rossoctl-platform-config', { 'config.yaml': 'mtls: {mode: strict}\n' }),
  '{apiVersion: v1, kind: Namespace, metadata: {name: team1, labels: {a: b}}}',
  '{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a}]}}}}}}',
].map((text) => parse(text) as object);

/** A document with one value anywhere in it replaced by any JSON. */
const spoiled = fc
  .constantFrom(...documents.flatMap((document) => pathsOf(document).map((path) => ({ document, path }))))
  .chain(({ document, path }) => fc.jsonValue({ maxDepth: 2 }).map((by) => replaced(document, path, by)));

test('a document spoiled in one place never leads to an internal error', async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(spoiled, { minLength: 1, maxLength: 2 }), fc.boolean(), async (wrong, isReviewed) => {
      const state = [{ ...documents[1], metadata: { name: 'state', namespace: 'team1' } }];
      const all = isReviewed ? wrong.map(review) : [...wrong, ...state];
      const { code, err } = await inject(all.map((document) => JSON.stringify(document)).join('\n---\n'), '--explain');
      assert.ok(!err.includes('internal error'), err);
      assert.ok([0, 1, 2].includes(code));
      assert.notEqual(err, '');
      seen.add(code);
    }),
    { numRuns: 1500 },
  );
  assert.deepEqual(
    [...seen].sort((a, b) => a - b),
    [0, 1, 2],
  );
});
