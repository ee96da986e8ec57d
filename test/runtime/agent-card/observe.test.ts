/** What is gathered about a card beside what its agent says. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createKept } from '../../../runtime/agent-card/kept.ts';
import { observe } from '../../../runtime/agent-card/observe.ts';
import { silence } from '../../../runtime/agent-card/talks.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { apiVersion } from '../../../runtime/api/names.ts';
import type { Gathering, KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { agentRuntimes } from '../../../runtime/workload/watches.ts';
import { deploymentRow } from '../agent-runtime/cluster.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { card, now, targetRef } from './card-fixtures.ts';

function runtimeOf(name: string, more: object): KubeObject {
  const metadata = { namespace: 'team1', name, uid: `uid-${name}`, ...more };
  const runtime = { apiVersion, kind: kinds.agentRuntime.kind, metadata, spec: { type: 'agent', targetRef } };
  return runtime;
}

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
  const talks = {
    has: () => false,
    hasAnswered: () => false,
    with: () => silence,
    askAgain: () => {},
    forget: () => {},
  };
  const { runtime } = await observe(card(), { reader } as Gathering, {
    policy: { isRequired: false, isAudit: false, profiles: 'all' },
    talks,
    kept: createKept(),
    assessments: { of: () => assert.fail('nothing was received'), forget: () => {} },
    installBindingOf: () => ({ trustDomain: { unknown: 'it is not set' }, scope: 'workload' }),
    bundleOf: undefined,
    now: () => now,
  });
  assert.equal(runtime?.metadata.name, 'older');
});
