/** `rossoctl explain`: origins of values, the hash, and layers that cannot be used. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { cli, defaults, platform, r0Yaml, stream } from './run-cli.ts';

const explain = (input: string, ...flags: readonly string[]) => cli(['explain', '-f', '-', ...flags], input);
const line = (out: string, path: string) =>
  out
    .split('\n')
    .find((each) => each.trim().startsWith(`${path} =`))
    ?.trim();

test('each value names the layer that set it last', async () => {
  const runtime = `${r0Yaml}  mtlsMode: strict\n`;
  const { code, out, err } = await explain(
    stream(
      platform('spiffe: {trustDomain: a.example}\ntrace: {protocol: http}'),
      defaults('spiffe: {trustDomain: b.example}'),
      runtime,
    ),
  );
  assert.equal(code, 0, err);
  assert.match(out, /^AgentRuntime team1\/weather {2}hash [0-9a-f]{64}\n/);
  assert.equal(
    line(out, 'spiffe.trustDomain'),
    'spiffe.trustDomain = "b.example"  (namespace: ConfigMap team1/defaults, key config.yaml)',
  );
  assert.match(
    line(out, 'trace.protocol') ?? '',
    /"http" {2}\(platform: ConfigMap rossoctl-system\/rossoctl-platform-config/,
  );
  assert.match(line(out, 'mtls.mode') ?? '', /"strict" {2}\(agent-runtime: AgentRuntime team1\/weather/);
  assert.match(line(out, 'proxy.uid') ?? '', /1337 {2}\(compiled default\)/);
});

test('without an AgentRuntime the namespace is explained', async () => {
  const { code, out } = await explain(defaults('identity: {realm: team1}'), '-n', 'team1');
  assert.equal(code, 0);
  assert.match(out, /^Namespace team1 {2}hash/);
  assert.match(line(out, 'identity.realm') ?? '', /^identity\.realm = "team1"/);
});

test('a layer that cannot be used is named, and the exit code is 1', async () => {
  const { code, out, err } = await explain(stream(defaults('spiffe: {trustDomian: x}'), r0Yaml));
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(
    err,
    /ConfigMap team1\/defaults, key config\.yaml: line 1: spiffe\.trustDomian: unknown key; did you mean trustDomain\?/,
  );
});

test('no input is wrong usage', async () => {
  assert.equal((await cli(['explain'])).code, 2);
  assert.equal((await explain('')).code, 2);
});
