/** `npm run gen:protocols` asked how it is used: it says so and writes nothing. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-protocols-'));
after(() => rmSync(work, { recursive: true }));
const out = path.join(work, 'protocols.ts');

/** Without Go to be found, so that its work cannot be done instead. */
function protocols(...flags: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(root, 'scripts/protocols.ts'), '--out', out, ...flags],
    { cwd: work, encoding: 'utf8', env: { ...process.env, PATH: work } },
  );
  return { status, stdout, stderr };
}

test('--help prints the usage, and a flag that is none is refused with it', () => {
  const { status, stdout, stderr } = protocols('--help');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^usage: npm run gen:protocols/);
  const wrong = protocols('--chekc');
  assert.deepEqual([wrong.status, wrong.stdout], [2, '']);
  assert.match(wrong.stderr, /Unknown option '--chekc'[^]*usage: npm run gen:protocols/);
  assert.equal(existsSync(out), false);
});

test('without Go it fails, and leaves what was written before', () => {
  const before = readFileSync(path.join(root, 'imports/protocols.ts'));
  const { status } = protocols();
  assert.notEqual(status, 0);
  assert.equal(existsSync(out), false);
  assert.deepEqual(readFileSync(path.join(root, 'imports/protocols.ts')), before);
});
