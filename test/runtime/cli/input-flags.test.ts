/** How the input is named on the command line, and what the help says about it. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli, podYaml } from './run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-flags-'));
after(() => rmSync(directory, { recursive: true }));
const file = path.join(directory, '=pod.yaml');
writeFileSync(file, podYaml);

for (const argv of [
  ['-f', '-'],
  ['-f-'],
  ['-f=-'],
  ['--filename', '-'],
  ['--filename=-'],
  ['-f=-', '-n=team1'],
  [`-f=${file}`],
  [`-f${file}`],
]) {
  for (const command of ['inject', 'explain']) {
    test(`${command} reads ${argv.join(' ').replace(directory, '…')}`, async () => {
      const { code, err } = await cli([command, ...argv], podYaml);
      assert.equal(code, 0, err);
    });
  }
}

const refused: readonly (readonly [readonly string[], RegExp])[] = [
  [['-f='], /--filename needs a value/],
  [['-f', '=-'], /=- cannot be read: there is no such file/],
  [['-f==-'], /=- cannot be read: there is no such file/],
  [['--filename==-'], /=- cannot be read: there is no such file/],
  [['-f=-', '-f=-'], /standard input can be read once only/],
];
for (const [argv, words] of refused) {
  test(`inject refuses ${argv.join(' ')}`, async () => {
    const { code, err } = await cli(['inject', ...argv], podYaml);
    assert.equal(code, 2);
    assert.match(err, words);
  });
}

test('the help of inject says what is checked, and who checks the rest', async () => {
  const { out } = await cli(['inject', '--help']);
  assert.match(out, /only the fields that injection reads are checked; the API server checks the rest/);
});
