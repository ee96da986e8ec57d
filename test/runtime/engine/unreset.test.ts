import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('a write that is aborted in the turn that began it: the process goes on', async () => {
  const child = path.join(import.meta.dirname, 'unreset-child.ts');
  const options = { timeout: 20_000, killSignal: 'SIGKILL' } as const;
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=256', child], options);
  assert.equal(stdout, 'came back');
});
