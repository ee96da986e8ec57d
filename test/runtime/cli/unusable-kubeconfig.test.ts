/** A kubeconfig that cannot be used: every command that needs a cluster says so in the same words, as wrong usage. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli } from './run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-kubeconfig-'));
after(() => rmSync(directory, { recursive: true }));
const kubeconfig = path.join(directory, 'config');
writeFileSync(
  kubeconfig,
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://192.0.2.1' } }],
    contexts: [{ name: 'there', context: { cluster: 'c' } }],
    'current-context': 'there',
  }),
);

for (const command of ['status', 'uninstall']) {
  test(`${command}: no such context, and no such file`, async () => {
    const context = await cli([command, '--kubeconfig', kubeconfig, '--context', 'nope']);
    assert.deepEqual([context.code, context.out], [2, '']);
    assert.match(
      context.err,
      /^rossoctl: the cluster cannot be read: kubeconfig \S+ has no context nope: it has there; pass --context\n$/,
    );
    const file = await cli([command, '--kubeconfig', path.join(directory, 'none')]);
    assert.deepEqual([file.code, file.out], [2, '']);
    assert.match(
      file.err,
      /^rossoctl: the cluster cannot be read: kubeconfig \S+none cannot be used: ENOENT.*; pass another with --kubeconfig\n$/,
    );
  });
}
