/** What a preview refuses, by the real CLI and without any cluster: with the key, and what to write instead. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Yaml } from 'cdk8s';
import { startProject } from './project.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'rossoctl-pulumi-refusals-'));
const kubeconfig = path.join(dir, 'kubeconfig');
let project: Awaited<ReturnType<typeof startProject>>;
before(async () => {
  writeFileSync(kubeconfig, 'apiVersion: v1\nkind: Config\ncontexts: []\n');
  project = await startProject({ dir, kubeconfig, hasNodes: false });
});
after(() => rmSync(dir, { recursive: true, force: true }));

const platform = { image: 'example.test/rossoctl:1' };
const team = (on: string) => ({ platform: on, namespace: 'team1', agents: { weather: { image: 'a:1' } } });

const refused: readonly (readonly [what: string, config: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  [
    'a context for the default provider',
    { 'kubernetes:context': 'prod', 'rossoctl:platform': platform },
    /the configuration of stack refused-0: config\.kubernetes:context: .*write rossoctl:cluster: \{ context: … \}/,
  ],
  [
    'a kubeconfig that is not there',
    { 'rossoctl:platform': platform, 'rossoctl:cluster': { kubeconfig: '/nope' } },
    /config\.rossoctl:cluster\.kubeconfig: \/nope does not exist: write the path of a kubeconfig/,
  ],
  [
    'a context that is not there',
    { 'rossoctl:platform': platform, 'rossoctl:cluster': { kubeconfig, context: 'nope' } },
    /config\.rossoctl:cluster\.context: .* has no context .*nope.*: there are none/,
  ],
  [
    'a platform that is no stack',
    { 'rossoctl:agents': team('nosuch') },
    /config\.rossoctl:agents\.platform: there is no stack organization\/rossoctl\/nosuch: run pulumi stack init and pulumi up there first, or name the stack of a platform/,
  ],
  [
    'a platform that was never installed',
    { 'rossoctl:agents': team('refused-0') },
    /config\.rossoctl:agents\.platform: stack organization\/rossoctl\/refused-0 has no output platform: run pulumi up there first/,
  ],
];
for (const [index, [what, config, says]] of refused.entries()) {
  test(`refused: ${what}`, { timeout: 600_000 }, async () => {
    const stack = await project.stack(`refused-${index}`, {});
    writeFileSync(path.join(dir, 'project', `Pulumi.refused-${index}.yaml`), Yaml.stringify({ config }));
    await assert.rejects(stack.preview({ asByDefault: true }), says);
  });
}
