/** The commands of the page on signing, run as they are written. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-signing-page-'));
after(() => rmSync(directory, { recursive: true }));

test('a trial authority signs a card, which is verified', () => {
  const page = readFileSync(path.join(root, 'docs/signing.md'), 'utf8');
  const [use = '', make = '', ...more] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  assert.deepEqual(more, []);
  // A reader's `npx` finds the installed package; here it is this one.
  const npx = `npx() { shift; ${JSON.stringify(path.join(root, 'bin/rossoctl.js'))} "$@"; }`;
  const out = execFileSync('bash', ['-euc', `${npx}\n${make}\n${use}`], {
    cwd: directory,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  assert.match(out, /identity binding +pass .*spiffe:\/\/example\.org\/ns\/team1\/sa\/weather/);
  assert.match(out, /^verified until /m);
});
