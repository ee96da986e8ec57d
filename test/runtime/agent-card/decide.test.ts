/** Decisions about an AgentCard, situation by situation, and that a decision carried out leaves nothing to decide. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card/decide.ts';
import type { Observed } from '../../../runtime/agent-card/observed.ts';
import { release } from '../../../runtime/agent-card/release.ts';
import { conditionReason, signatureReasons } from '../../../runtime/api/conditions.ts';
import { apiVersion, labels, managedBy } from '../../../runtime/api/names.ts';
import {
  after,
  agent,
  card,
  condition,
  later,
  now,
  observed,
  patches,
  podMark,
  read,
  talk,
  targetRef,
  valid,
  workload,
} from './card-fixtures.ts';
import { closing, labelled, rows, silent, unbound } from './situations.ts';

for (const { name, when, says, writes } of rows) {
  test(name, () => {
    const before = observed(when);
    const plan = decide(before, now);
    const told = Object.fromEntries(Object.keys(says).map((type) => [type, condition(plan, type)]));
    assert.deepEqual(told, says);
    assert.deepEqual(patches(plan), writes);
    const again = decide(after(before, plan), now);
    assert.deepEqual(again.status, plan.status);
    assert.deepEqual([patches(again), again.notices], [[], []]);
  });
}

test('OB-02: every reason for which a signature fails is a reason of the condition and of an event', () => {
  const told = signatureReasons.map((reason) => {
    const plan = decide(observed({ assessment: read({ isValid: false, reason, detail: 'why' }) }), now);
    const event = plan.notices?.find(({ action }) => action === 'VerifySignature');
    assert.equal(event?.reason, conditionReason(reason));
    assert.equal(event?.type, 'Warning');
    return condition(plan, 'Verified');
  });
  assert.equal(new Set(told).size, signatureReasons.length);
});

test('SG-13: a verdict ends with the certificate, to the millisecond', () => {
  const end = valid.expires;
  assert.equal(condition(decide(observed({ ...labelled }), end), 'Verified'), 'True/SignatureVerified');
  const after = decide(observed({ ...labelled }), new Date(end.getTime() + 1));
  assert.equal(condition(after, 'Verified'), 'False/Expired');
  assert.deepEqual(patches(after), closing);
  assert.equal(decide(observed({ ...labelled }), now).afterMs, 3_600_001);
});

test('a signature that is not valid yet is looked at again, any other is not', () => {
  const of = (reason: 'not-yet-valid' | 'untrusted-chain') =>
    decide(observed({ assessment: read({ isValid: false, reason, detail: 'why' }) }), now).afterMs;
  assert.ok((of('not-yet-valid') ?? 0) <= 61_000);
  assert.equal(of('untrusted-chain'), undefined);
});

test('SG-03: status holds what was signed and names what was not', () => {
  const signature = { ...valid, unsigned: ['/url', '/vendor'] };
  const { status } = decide(observed({ assessment: read(signature) }), now);
  assert.deepEqual(status?.card, { name: 'Weather' });
  assert.deepEqual(status?.unsignedMembers, ['/url', '/vendor']);
});

test('the time of the last contact moves with anything else, else after an hour', () => {
  const first = decide(observed(labelled), now).status;
  const at = (ms: number, more: Partial<Observed> = {}) =>
    decide(
      observed({ ...labelled, card: card({}, first), talk: { ...talk, answeredAt: later(ms) }, ...more }),
      later(ms),
    ).status?.lastSyncTime;
  assert.equal(first?.lastSyncTime, '2026-01-01T12:00:00Z');
  assert.equal(at(1_800_000), '2026-01-01T12:00:00Z');
  assert.equal(at(1_800_000, { assessment: read(valid, 'Other') }), '2026-01-01T12:30:00Z');
  assert.equal(at(3_600_000), '2026-01-01T13:00:00Z');
});

test('another card than before is an event of its own, the first one is not', () => {
  const first = decide(observed(labelled), now);
  const reasons = (plan: typeof first) => plan.notices?.map(({ reason }) => reason);
  assert.deepEqual(reasons(first), ['CardSynced', 'SignatureVerified']);
  const second = decide(observed({ card: card({}, first.status), assessment: read(valid, 'Other') }), now);
  assert.deepEqual(reasons(second), ['CardChanged']);
});

test('an identity that may not sign is one event of one name, whether the card asks for a binding or not', () => {
  const binding = { ...observed().binding, trustDomain: { unknown: 'spiffe.trustDomain is not set.' } };
  for (const over of [
    { card: card({ identityBinding: {} }), assessment: read(unbound) },
    { assessment: read(unbound) },
    { binding },
    { binding: { ...binding, isAsked: true } },
  ]) {
    const plan = decide(observed(over), now);
    const reasons = (plan.notices ?? []).map(({ reason }) => reason);
    assert.deepEqual(reasons.toSorted(), ['BindingFailed', 'CardSynced']);
  }
});

test('a workload that is no agent: what to do depends on the AgentRuntime that names it', () => {
  const synced = (type?: 'agent' | 'tool') => {
    const metadata = { namespace: 'team1', name: 'weather-runtime' };
    const runtime = type && ({ apiVersion, kind: 'AgentRuntime', metadata, spec: { type, targetRef } } as const);
    const { status } = decide(observed({ target: { found: workload({}) }, runtime }), now);
    return status?.conditions?.find(({ reason }) => reason === 'NotAgentWorkload')?.message ?? '';
  };
  assert.match(synced(), /Create an AgentRuntime of type agent for it/);
  assert.match(synced('agent'), /AgentRuntime weather-runtime names it: see why its condition Ready is not True/);
  assert.match(synced('tool'), /AgentRuntime weather-runtime names it as a tool/);
});

test('audit mode does not say that an unverified card can be relied on', () => {
  const policy = { isRequired: true, isAudit: true, profiles: 'all' } as const;
  const ready = (over: Partial<Observed>) =>
    decide(observed({ policy, ...over }), now).status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  assert.match(ready({}) ?? '', /can be relied on/);
  assert.match(
    ready({ assessment: read({ isValid: false, reason: 'no-signature', detail: 'none' }) }) ?? '',
    /not verified/,
  );
});

test('the conditions of others, and what they change, are no news to us', () => {
  const { status } = decide(observed(labelled), now);
  const foreign = {
    type: 'NetworkPolicyReady',
    status: 'True',
    reason: 'Permissive',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const known = { ...status, conditions: [...(status?.conditions ?? []), foreign] };
  const plan = decide(
    observed({ ...labelled, card: card({}, known), talk: { ...talk, answeredAt: later(60_000) } }),
    later(60_000),
  );
  assert.equal(plan.status?.lastSyncTime, status?.lastSyncTime);
  assert.equal(condition(plan, 'NetworkPolicyReady'), 'absent');
});

test('a status that speaks of another target is not carried over', () => {
  const old = decide(observed(labelled), now).status;
  const status = { ...old, targetRef: { ...targetRef, name: 'old' } };
  const plan = decide(observed({ card: card({}, status), talk: silent, assessment: undefined }), now);
  assert.equal(plan.status?.card, undefined);
  assert.equal(plan.status?.cardHash, undefined);
  assert.equal(condition(plan, 'Synced'), 'False/Fetching');
});

test('deletion takes the label from everybody, and only from a former target when another card remains', () => {
  const all = observed({ ...labelled, strays: [podMark('ending', 'true')], former: [podMark('old', 'true')] });
  assert.deepEqual(patches(release(all)), ['-old', '-ending', '-weather', '-a']);
  assert.deepEqual(patches(release({ ...all, hasHeir: true })), ['-old']);
});

test('a card that has nothing to do says what is to be done with it, a generated one too', () => {
  const first = { ...card(), metadata: { ...card().metadata, name: 'mine' } };
  const says = (over: Partial<Observed>) =>
    decide(observed(over), now).status?.conditions?.find(({ type }) => type === 'Synced')?.message ?? '';
  const generated = {
    ...card(),
    metadata: { ...card().metadata, name: 'weather-deployment-card', labels: { [labels.managedBy]: managedBy } },
  };
  assert.match(says({ winner: first }), /AgentCard mine .*comes first\. Delete one of the two/);
  assert.match(says({ winner: first, card: generated }), /AgentCard mine .*This one was generated; .*: delete it\.$/);
  assert.match(says({ target: { found: workload({}) } }), /or delete this AgentCard\.$/);
  assert.match(says({ target: { found: workload({ 'rossoctl.io/type': 'agent' }) } }), /or delete this AgentCard\.$/);
});

test('a2a is told first among several protocols', () => {
  const spoken = { ...agent, 'protocol.rossoctl.io/acp': '', 'protocol.rossoctl.io/zzz': '' };
  const plan = decide(observed({ target: { found: workload(spoken) }, protocols: ['a2a', 'acp', 'zzz'] }), now);
  assert.equal(plan.status?.protocol, 'a2a');
});
