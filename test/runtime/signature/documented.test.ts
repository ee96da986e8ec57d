/** docs/signing.md explains every profile, algorithm and flag. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { signCommand } from '../../../runtime/cli/sign.ts';
import { verifyCommand } from '../../../runtime/cli/verify.ts';
import { algorithmNames } from '../../../runtime/signature/algorithms.ts';
import { profiles } from '../../../runtime/signature/payloads.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/signing.md'), 'utf8');

test('the reasons that are no failure of a signature are told of; all others are in the reference', () => {
  for (const reason of ['trust-domain-mismatch', 'workload-mismatch'])
    assert.ok(page.includes(`\`${reason}\``), reason);
});

test('every profile, algorithm and flag is there', () => {
  const words = [...profiles.map((profile) => `\`${profile}\``), ...algorithmNames];
  const flags = [...verifyCommand.flags, ...signCommand.flags].map(({ name }) => `--${name}`);
  for (const word of [...words, ...flags]) assert.ok(page.includes(word), word);
});
