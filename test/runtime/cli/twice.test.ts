/** The same object in two documents is no state of any cluster: refused with both places. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { cli, configMap, deploymentYaml, inject, podYaml, r0Yaml, stream } from './run-cli.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-twice-'));
after(() => rmSync(directory, { recursive: true }));

const list = (...items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const named = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] } };
const space = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team1}\n';

const refused: readonly (readonly [what: string, input: string, title: RegExp])[] = [
  ['an AgentRuntime', stream(podYaml, r0Yaml, r0Yaml), /AgentRuntime team1\/weather/],
  [
    'one that differs',
    stream(podYaml, r0Yaml, r0Yaml.replace('type: agent', 'type: tool')),
    /AgentRuntime team1\/weather/,
  ],
  ['a ConfigMap', stream(podYaml, configMap('a', 'b', {}), configMap('a', 'b', { x: 'y' })), /ConfigMap a\/b/],
  ['a Namespace', stream(podYaml, space, space), /Namespace team1/],
  ['a workload', stream(r0Yaml, deploymentYaml, deploymentYaml), /Deployment team1\/weather-agent/],
  [
    'one in two versions of its group',
    stream(r0Yaml, deploymentYaml, deploymentYaml.replace('apps/v1', 'apps/v1beta2')),
    /Deployment team1\/weather-agent/,
  ],
  [
    'one that states the namespace that the other is given',
    list(named, { ...named, metadata: { name: 'p', namespace: 'default' } }),
    /Pod default\/p/,
  ],
  [
    'one that has no part in injection',
    stream(podYaml, ...['s', 's'].map((name) => `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\n`)),
    /Service default\/s/,
  ],
];
for (const [what, input, title] of refused) {
  for (const command of ['inject', 'explain']) {
    test(`${command}: exit 2 for ${what} in two documents`, async () => {
      const { code, out, err } = await cli([command, '-f', '-'], input);
      assert.deepEqual([code, out], [2, ''], err);
      assert.match(err, new RegExp(`^rossoctl: ${title.source} is in the input 2 times: `));
      assert.equal(err.match(/standard input, document \d+ \(line \d+\)/g)?.length, 2);
    });
  }
}

test('both places are named, in two files and in one list', async () => {
  const [a, b] = ['a.yaml', 'b.yaml'].map((name) => path.join(directory, name));
  writeFileSync(a ?? '', stream(podYaml, r0Yaml));
  writeFileSync(b ?? '', r0Yaml);
  const files = await cli(['inject', '-f', a ?? '', '-f', b ?? '']);
  assert.match(
    files.err,
    /2 times: \S*a\.yaml, document 2 \(line \d+\); \S*b\.yaml, document 1 \(line 1\)\. A cluster/,
  );
  const { err } = await inject(list(named, named, named));
  assert.match(err, /3 times: .*document 1 \(line 1\), item 1; .*, item 2; .*, item 3\. .*remove all but one/);
});

test('what is no double: another kind, group or namespace, and pods that have no name yet', async () => {
  const others = [
    named,
    { ...named, metadata: { name: 'p', namespace: 'team1' } },
    { ...named, kind: 'ConfigMap', spec: undefined },
    { ...named, apiVersion: 'example.test/v1' },
    { ...named, metadata: { generateName: 'p-' } },
    { ...named, metadata: { generateName: 'p-' } },
    { ...named, metadata: {} },
    { ...named, metadata: {} },
  ];
  const { code, err } = await inject(list(...others));
  assert.equal(code, 0, err);
});
