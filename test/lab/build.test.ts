// Building: once, whoever asks first, and nothing half-made is ever used.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { runCommand } from './run-command.ts';

test('of two processes that need a binary at once one builds it and both use it', async (t) => {
  // Go's own cache would move with XDG_CACHE_HOME, and everything would be compiled again.
  const goCache = (await runCommand('go', ['env', 'GOCACHE'])).trim();
  const cache = mkdtempSync(join(tmpdir(), 'cache-'));
  t.after(() => rmSync(cache, { recursive: true }));
  const script = `
    import { ensureBinaries, pathOf } from ${JSON.stringify(join(import.meta.dirname, 'build.ts'))};
    const lines = [];
    const path = pathOf(await ensureBinaries(['pause'], (line) => lines.push(line)), 'pause');
    console.log(JSON.stringify({ path, hasBuilt: lines.some((line) => line.includes('built pause')) }));`;
  const ensure = async (): Promise<{ readonly path: string; readonly hasBuilt: boolean }> => {
    const parameters = ['--input-type=module-typescript', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, parameters, {
      env: { ...process.env, XDG_CACHE_HOME: cache, GOCACHE: goCache },
    });
    return JSON.parse(stdout) as { path: string; hasBuilt: boolean };
  };
  const [one, two] = await Promise.all([ensure(), ensure()]);
  assert.equal(one.path, two.path);
  assert.notEqual(one.hasBuilt, two.hasBuilt);
  assert.deepEqual(readdirSync(dirname(one.path)), ['pause']);
  assert.equal((await ensure()).hasBuilt, false);
});
