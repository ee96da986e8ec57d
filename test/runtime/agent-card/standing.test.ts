/** What the status of before a restart is worth: everything it rests on must be as it was. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card/decide.ts';
import type { Observed, Talk } from '../../../runtime/agent-card/observed.ts';
import type { AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import {
  agent,
  card,
  condition,
  deploymentMark,
  later,
  now,
  observed,
  patches,
  podMark,
  read,
  talk,
  valid,
  verified,
  workload,
} from './card-fixtures.ts';

const labelled = { marked: [deploymentMark('true'), podMark('a', 'true')] };
const target = { found: workload({ ...agent, [verified]: 'true' }) };
const before = decide(observed({ ...labelled, target }), now).status;
const silent: Talk = { ...talk, received: undefined, answeredAt: undefined, isAnswered: false, lostAt: later(90_000) };
const restarted = (over: Partial<Observed> = {}, status: AgentCardStatus | undefined = before) =>
  observed({ ...labelled, target, card: card({}, status), talk: silent, assessment: undefined, ...over });

test('a verdict stands until the agent has been asked, and nothing is written', () => {
  const plan = decide(restarted(), later(1_000));
  assert.deepEqual(plan.status, before);
  assert.deepEqual([patches(plan), plan.notices], [[], []]);
  assert.equal(plan.afterMs, 89_001);
});

test('a new pod is labelled while a verdict stands', () => {
  const plan = decide(restarted({ marked: [...labelled.marked, podMark('b')] }), now);
  assert.deepEqual(patches(plan), ['+b']);
});

const doubts: readonly (readonly [string, Partial<Observed>, AgentCardStatus?])[] = [
  ['the bundle is another', { bundle: { kind: 'usable', bundle: { hash: 'other', anchors: [], warnings: [] } } }],
  ['the bundle is gone', { bundle: { kind: 'unavailable', message: 'gone' } }],
  ['the spec has changed since', {}, { ...before, observedGeneration: 0 }],
  ['the certificate has ended', {}, { ...before, certificateExpires: '2026-01-01T11:59:59Z' }],
  ['it says nothing of the certificate', {}, { ...before, certificateExpires: undefined as never }],
  ['nobody was verified', {}, { ...before, conditions: [] }],
  [
    'it is about another target',
    {},
    { ...before, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' } },
  ],
  ['the workload is another of that name', { target: { found: workload() } }],
  ['contact is lost', { talk: { ...silent, isLost: true } }],
  [
    'another trust domain counts now',
    { binding: { trustDomain: { name: 'other.test' }, workload: undefined, isStrict: true, isAsked: false } },
  ],
  [
    'another ServiceAccount would have to sign',
    {
      binding: {
        trustDomain: { name: 'cluster.local' },
        workload: { namespace: 'team1', serviceAccount: 'other' },
        isStrict: true,
        isAsked: true,
      },
    },
  ],
  [
    'that form of the payload does not count any more',
    { policy: { isRequired: true, isAudit: false, profiles: 'jcs' } },
    { ...before, signatureProfile: 'go-clean' },
  ],
];

for (const [name, over, status] of doubts) {
  test(`it does not stand when ${name}`, () => {
    const plan = decide(restarted(over, status), now);
    assert.match(condition(plan, 'Verified'), /^False\//);
    assert.deepEqual(patches(plan), ['-weather', '-a']);
  });
}

test('the mode is told anew', () => {
  const audit = { isRequired: true, isAudit: true, profiles: 'all' } as const;
  const plan = decide(restarted({ policy: audit }), now);
  const message = plan.status?.conditions?.find(({ type }) => type === 'Verified')?.message ?? '';
  assert.match(message, /^Audit mode: Signed by/);
  const again = decide(
    observed({ card: card({}, plan.status), policy: audit, talk: silent, assessment: undefined }),
    now,
  );
  assert.deepEqual(again.status, plan.status);
});

test('it is replaced by what the agent serves', () => {
  const plan = decide(restarted({ talk, assessment: read({ ...valid, spiffeId: 'spiffe://cluster.local/x' }) }), now);
  assert.equal(plan.status?.signatureSpiffeId, 'spiffe://cluster.local/x');
});
