/** What Envoy itself says of each golden configuration: it is complete, and every field means something to this release. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ensureEnvoy, envoyVersion } from '../../scripts/envoy.ts';
import { createAuthority } from '../support/svid.ts';

const execute = promisify(execFile);
const folder = path.resolve(import.meta.dirname, '../golden/sidecar-envoy');

interface Golden {
  readonly bootstrap: { readonly staticResources: { readonly clusters: readonly object[] } };
  readonly clusters: readonly object[];
  readonly listeners: readonly object[];
}

for (const file of globSync('*.json', { cwd: folder })) {
  test(`Envoy takes the configuration of a pod: ${path.basename(file, '.json')}`, async () => {
    const text = await withCertificates(readFileSync(path.join(folder, file), 'utf8'));
    const { bootstrap, clusters, listeners } = JSON.parse(text) as Golden;
    const own = bootstrap.staticResources.clusters;
    // What comes by discovery is checked as if it were there from the start.
    const all = { ...bootstrap, staticResources: { clusters: [...own, ...clusters], listeners } };
    const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-validate-'));
    try {
      writeFileSync(path.join(work, 'envoy.json'), JSON.stringify(all));
      const flags = ['--mode', 'validate', '--log-level', 'warning', '-c', path.join(work, 'envoy.json')];
      const { stdout, stderr } = await execute(await ensureEnvoy(), flags);
      assert.match(stdout, /OK/);
      assert.equal(stderr, '', 'nothing deprecated, nothing doubtful');
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
}

/** Golden files hold words in the place of certificates. */
async function withCertificates(text: string): Promise<string> {
  const authority = await createAuthority('home');
  const { chain, key } = await authority.issue('spiffe://example.org/agent');
  const words = { CHAIN: chain, KEY: key, HOME: authority.pem, PARTNER: authority.pem };
  return Object.entries(words).reduce(
    (all, [word, pem]) => all.replaceAll(`"${word}"`, () => JSON.stringify(pem)),
    text,
  );
}

test('the binary is the release that the messages are made for', async () => {
  const { stdout } = await execute(await ensureEnvoy(), ['--version']);
  assert.match(stdout, new RegExp(`/${envoyVersion}/Clean/RELEASE/`));
});
