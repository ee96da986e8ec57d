/** What the test runner makes of tests whose parts cannot be built. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Part, runAfter } from './support/after-build.ts';
import { createTally } from './support/tally.ts';

const files = ['test/a.test.ts', 'test/b.test.ts'];

/** What is printed, what is counted, and what was run. */
async function after(built: Promise<void>, part: Part) {
  let text = '';
  const ran: string[] = [];
  const tally = createTally({ write: (piece) => (text += piece) });
  await runAfter(built, part, {
    tally,
    runFiles: (some) => {
      ran.push(...some);
      return Promise.resolve();
    },
  });
  tally.close();
  return { text, ran, failed: tally.failed };
}

const broken = () => Promise.reject(new Error('no compiler'));

test('what can be done without is skipped file by file, with the reason, and fails nothing', async () => {
  const { text, ran, failed } = await after(broken(), { files, mayBeMissing: true });
  assert.deepEqual([ran, failed], [[], 0]);
  assert.match(
    text,
    /skipped: test\/a\.test\.ts: Error: no compiler\nskipped: test\/b\.test\.ts: Error: no compiler\n/,
  );
  assert.match(text, /0 passed, 0 failed, 2 skipped/);
});

test('what cannot is one failure', async () => {
  const { text, ran, failed } = await after(broken(), { files, mayBeMissing: false });
  assert.deepEqual([ran, failed], [[], 1]);
  assert.match(text, /FAILED: cluster tests\n[^]*no compiler/);
});

test('nothing is waited for on behalf of no file, and what is built runs', async () => {
  assert.deepEqual(await after(new Promise(() => undefined), { files: [], mayBeMissing: false }), {
    text: '\n0 passed, 0 failed\n',
    ran: [],
    failed: 0,
  });
  assert.deepEqual((await after(Promise.resolve(), { files, mayBeMissing: false })).ran, files);
});
