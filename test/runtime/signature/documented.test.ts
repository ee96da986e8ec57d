/** docs/signing.md explains every reason, profile, algorithm and flag. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { signatureReasons } from '../../../runtime/api/conditions.ts';
import { signCommand } from '../../../runtime/cli/sign.ts';
import { verifyCommand } from '../../../runtime/cli/verify.ts';
import { algorithmNames } from '../../../runtime/signature/algorithms.ts';
import { profiles } from '../../../runtime/signature/payloads.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/signing.md'), 'utf8');

test('every reason has a row with what to do', () => {
  for (const reason of [...signatureReasons, 'trust-domain-mismatch', 'workload-mismatch']) {
    assert.match(page, new RegExp(`^\\| \`${reason}\` \\| [^|]{10,} \\| [^|]{10,} \\|$`, 'm'), reason);
  }
});

test('every profile, algorithm and flag is there', () => {
  const words = [...profiles.map((profile) => `\`${profile}\``), ...algorithmNames];
  const flags = [...verifyCommand.flags, ...signCommand.flags].map(({ name }) => `--${name}`);
  for (const word of [...words, ...flags]) assert.ok(page.includes(word), word);
});
