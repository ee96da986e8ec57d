/** `npm run demo` as a user runs it, with a real Keycloak, SPIRE and sidecars: what it tells is so, and nothing of it is left. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { down } from '../lab/down.ts';
import { leftovers } from '../lab/leftovers.ts';
import { canRunNode } from '../lab/up.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const lab = `demo-${randomBytes(3).toString('hex')}`;
const program = path.resolve(import.meta.dirname, '../../examples/demo/main.ts');

/** What each step must show; the demo throws by itself where a call is not answered as told, so this is that it made them all. */
const told: readonly (readonly [what: string, text: RegExp])[] = [
  ['an agent without a token', /HTTP 401\n +www-authenticate: Bearer .*\n.*"error":"missing_token"/],
  [
    'with a token for another',
    /\$TOKEN_FOR_WEATHER".*\n +HTTP 401\n +www-authenticate: Bearer .*error="invalid_token"/,
  ],
  ['with a token for it', /\$TOKEN" http:\S+\/\n +HTTP 200\n.*at your service/],
  ['the tool is sent another token', /HTTP 200\n.*"for":"tickets","by":"team3\/assistant","about":"alice"/],
  ['the tool’s own log', /called with a token \{"for":"tickets","by":"team3\/assistant","about":"alice"\}/],
  ['the identity in Envoy', /spiffe:\/\/lab\.local\/ns\/team3\/sa\/assistant\n +serial \w+/],
  ['a label by hand is refused', /Labelling a workload by hand:\n.*agent-label-protection.*denied request/],
  ['a second AgentRuntime is refused', /A second AgentRuntime for the same workload:\n.*denied the request.*weather/],
  ['a misspelt key is told', /ConfigInvalid: .*trustDomian/],
  [
    'both pods carry the verified label',
    /verified until .*\n\n +NAMESPACE .*\n +team1 +weather-\S+ +2\/2 .*\n +team2 +billing-/,
  ],
  ['another team is untouched', /weather .* rolled\n +billing .* untouched/],
  ['the identity was replaced', /Meanwhile the identity has been replaced/],
  ['the Deployment is as it was', /byte for byte/],
  ['the end', /Done\. The cluster is still up; Keycloak and SPIRE have ended/],
];

describe('the demo', { skip, timeout: 600_000 }, () => {
  let out = '';
  // What Keycloak, SPIRE and the demo itself put down lies here.
  const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-demo-test-'));

  before(async () => {
    const env = { ...process.env, TMPDIR: work };
    const child = spawn(process.execPath, [program, '--lab', lab], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `${out.slice(-4_000)}\n${complaints.slice(-4_000)}`);
  });
  after(async () => {
    await down(lab);
    rmSync(work, { recursive: true, force: true });
  });

  for (const [what, text] of told) {
    test(what, () => assert.match(out, text));
  }

  test('the network follows the verdict: closed unsigned, open, closed when the certificate ends, open again', () => {
    const ways = [...out.matchAll(/billing → weather: (\w+)/g)].map(([, way]) => way);
    // Signed for too short a time on a slow machine is signed again.
    assert.deepEqual(ways, ['closed', 'open', 'closed', 'open']);
  });

  test('nothing is left, but for the cluster until it is taken down', async () => {
    assert.deepEqual(readdirSync(work), []);
    assert.notDeepEqual(await leftovers(lab), []);
    await down(lab);
    assert.deepEqual(await leftovers(lab), []);
  });
});
