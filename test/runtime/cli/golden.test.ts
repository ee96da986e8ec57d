/** Golden cases of `inject --explain`: the whole output and the whole explanation. `UPDATE_GOLDEN=1` accepts what is. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { type CliResult, inject } from './run-cli.ts';

const root = path.resolve(import.meta.dirname, '../../golden/inject');
const cases = readdirSync(root).sort();
const isUpdate = process.env['UPDATE_GOLDEN'] === '1';

function flagsOf(directory: string): readonly string[] {
  const file = path.join(directory, 'flags.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/) : [];
}

/** What was said, with the exit code as its last line. */
function explained({ err, code }: CliResult): string {
  return `${err}exit code ${code}\n`;
}

for (const name of cases) {
  const directory = path.join(root, name);
  const input = readFileSync(path.join(directory, 'input.yaml'), 'utf8');
  const flags = flagsOf(directory);
  const expected = (file: string) => readFileSync(path.join(directory, file), 'utf8');

  test(`golden: ${name}`, async () => {
    const result = await inject(input, '--explain', ...flags);
    if (isUpdate) {
      writeFileSync(path.join(directory, 'output.yaml'), result.out);
      writeFileSync(path.join(directory, 'explain.txt'), explained(result));
    }
    assert.equal(result.out, expected('output.yaml'));
    assert.equal(explained(result), expected('explain.txt'));
  });
}
