/** The single agent, run as its README says: its YAML, and that of the workload that is enrolled instead. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { assertGolden } from '../constructs/golden.ts';
import { documentedCommands, placeExamples, runIn } from './documented.ts';

const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-single-agent-'));
after(() => rmSync(work, { recursive: true, force: true }));
placeExamples(work);

test('the documented command writes the agent', () => {
  const [command = '', ...others] = documentedCommands('single-agent');
  assert.deepEqual(others, []);
  const { status, stderr } = runIn(work, command);
  assert.equal(status, 0, stderr);
  assertGolden('example-single-agent.yaml', readFileSync(path.join(work, 'weather.yaml'), 'utf8'));
});

test('enrolling makes an AgentRuntime and touches no workload', () => {
  const { status, stdout, stderr } = runIn(work, 'node examples/single-agent/enrol.ts');
  assert.equal(status, 0, stderr);
  assertGolden('example-enrol.yaml', stdout);
  assert.deepEqual(stdout.match(/^kind: .*/gm), ['kind: AgentRuntime']);
});
