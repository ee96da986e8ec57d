import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf, type FailureKind, telling } from '../../../../runtime/sidecar/capture/failure.ts';

/** What iptables 1.8 says. */
const rows: readonly (readonly [kind: FailureKind, output: string, fault?: string])[] = [
  ['no-program', '', 'ENOENT'],
  ['no-answer', '', 'ETIMEDOUT'],
  ['no-capability', 'Could not fetch rule set generation id: Permission denied (you must be root)'],
  ['no-table', "iptables-restore: unable to initialize table 'nat'\n\nError occurred at line: 1"],
  ['lock-file', "Fatal: can't open lock file /run/xtables.lock: Read-only file system"],
  ['lock-file', "Fatal: can't open lock file /run/xtables.lock: Permission denied"],
  ['lock-held', 'Another app is currently holding the xtables lock. Perhaps you want to use the -w option?'],
  ['no-match', "iptables-restore v1.8.9 (nf_tables): Couldn't load match `owner':No such file or directory"],
  ['no-match', 'line 12: RULE_APPEND failed (No such file or directory): rule in chain ROSSOCTL_OUTBOUND'],
  ['no-match', 'iptables: No chain/target/match by that name.'],
  ['no-backend', "can't initialize iptables table `nat': Table does not exist (do you need to insmod?)"],
  ['no-backend', 'Could not fetch rule set generation id: Invalid argument'],
  ['other', 'iptables-restore: line 3 failed'],
];

for (const [kind, output, fault] of rows) {
  test(`${kind}: ${fault ?? output}`, () => {
    const failure = failureOf('nft', { command: 'iptables-nft-restore --noflush', output, fault });
    assert.equal(failure.kind, kind);
    assert.match(failure.sentence, /^iptables-nft-restore --noflush failed: \S[^\n]* \([^\n]+\)$/);
  });
}

test('that a backend is missing explains least', () => {
  const failure = (output: string) => failureOf('nft', { command: 'x', output });
  const missing = failure('Table does not exist');
  const forbidden = failure('Permission denied');
  assert.equal(telling([missing, forbidden]), forbidden);
  assert.equal(telling([forbidden, missing]), forbidden);
  assert.equal(telling([missing]), missing);
  assert.equal(telling([]), undefined);
});
