/** What is gathered about a card beside what its agent says. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createKept } from '../../../runtime/agent-card/kept.ts';
import { decide } from '../../../runtime/agent-card/decide.ts';
import { type Observing, observe } from '../../../runtime/agent-card/observe.ts';
import { silence } from '../../../runtime/agent-card/talks.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { apiVersion } from '../../../runtime/api/names.ts';
import type { Gathering, KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { agentRuntimes } from '../../../runtime/workload/watches.ts';
import { deploymentRow } from '../agent-runtime/cluster.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, condition, later, now, observed, targetRef, usable, valid, verified } from './card-fixtures.ts';

function runtimeOf(name: string, more: object): KubeObject {
  const metadata = { namespace: 'team1', name, uid: `uid-${name}`, ...more };
  const runtime = { apiVersion, kind: kinds.agentRuntime.kind, metadata, spec: { type: 'agent', targetRef } };
  return runtime;
}

const talks = {
  has: () => false,
  hasAnswered: () => false,
  with: () => silence,
  askAgain: () => {},
  forget: () => {},
};

const deployment = {
  apiVersion: targetRef.apiVersion,
  kind: targetRef.kind,
  metadata: { namespace: 'team1', name: targetRef.name, uid: 'uid-d' },
  spec: { template: { metadata: {}, spec: { containers: [] } } },
};

test('of several AgentRuntimes the one counts that the controller lets win: the oldest that is not being deleted', async () => {
  const ended = { creationTimestamp: '2026-01-01T00:00:00Z', deletionTimestamp: '2026-01-01T00:09:00Z' };
  const runtimes = [
    runtimeOf('ended', ended),
    runtimeOf('younger', { creationTimestamp: '2026-01-01T00:02:00Z' }),
    runtimeOf('older', { creationTimestamp: '2026-01-01T00:01:00Z' }),
  ];
  const reader = readerOf(
    new Map<Watch, readonly KubeObject[]>([
      [agentRuntimes as unknown as Watch, runtimes],
      [deploymentRow, [deployment]],
    ]),
  );
  const { runtime } = await observe(card(), { reader } as Gathering, {
    policy: { isRequired: false, isAudit: false, profiles: 'all' },
    talks,
    kept: createKept(),
    keptSignatures: { of: () => assert.fail('nothing is verified'), forget: () => {} },
    assessments: { of: () => assert.fail('nothing was received'), forget: () => {} },
    installBindingOf: () => ({ trustDomain: { unknown: 'it is not set' }, scope: 'workload' }),
    bundleOf: undefined,
    now: () => now,
  });
  assert.equal(runtime?.metadata.name, 'older');
});

const before = decide(observed(), now).status ?? {};
const unverified = before.conditions?.map((one) => (one.type === 'Verified' ? { ...one, status: 'False' } : one)) ?? [];
const bearing = { ...deployment, metadata: { ...deployment.metadata, labels: { [verified]: 'true' } } };

/** How often the card in a status is asked for its signature in one pass. */
async function askedFor(
  status: object,
  over: Partial<Observing> = {},
  workload: KubeObject = bearing,
): Promise<number> {
  let asked = 0;
  const reader = readerOf(new Map<Watch, readonly KubeObject[]>([[deploymentRow, [workload]]]));
  await observe(card({}, status), { reader } as Gathering, {
    policy: { isRequired: true, isAudit: false, profiles: 'all' },
    talks,
    kept: createKept(),
    keptSignatures: { of: () => ((asked += 1), valid), forget: () => {} },
    assessments: { of: () => assert.fail('nothing was received'), forget: () => {} },
    installBindingOf: () => ({ trustDomain: { name: 'cluster.local' }, scope: 'workload' }),
    bundleOf: () => usable,
    now: () => later(1_000),
    ...over,
  });
  return asked;
}

test('the card in a status is judged only where that can count', async () => {
  assert.equal(condition({ status: before }, 'Verified'), 'True/SignatureVerified');
  assert.equal(await askedFor(before), 1);
  assert.equal(await askedFor({ ...before, conditions: unverified }), 0, 'it was not verified');
  assert.equal(await askedFor({ ...before, verdictFor: 'x' }), 0, 'of another spec');
  assert.equal(await askedFor(before, {}, deployment), 0, 'the workload bears no label');
  assert.equal(await askedFor(before, { talks: { ...talks, hasAnswered: () => true } }), 0, 'the agent has answered');
  assert.equal(await askedFor(before, { bundleOf: () => ({ kind: 'unavailable', message: 'x' }) }), 0);
});
