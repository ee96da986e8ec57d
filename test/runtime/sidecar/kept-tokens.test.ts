/** What of tokens is in the memory of a sidecar that has decided. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

test('a caller’s token is in no cache: not in the heap once its call is decided, while the token made for it is', async () => {
  const program = path.join(import.meta.dirname, 'kept-tokens-program.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program], { timeout: 60_000 });
  assert.deepEqual(JSON.parse(stdout), { isKept: true, subject: false, exchanged: true });
});
