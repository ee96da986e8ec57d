/** Compares text with a committed golden file; `UPDATE_GOLDEN=1` accepts what is there now. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '../golden/synth');

/** Fails with the difference, and says how to accept it. */
export function assertGolden(name: string, actual: string): void {
  const file = path.join(folder, name);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  assert.equal(actual, readFileSync(file, 'utf8'), `${name} differs; accept with: npm run test:update`);
}
