/** What the status of before a restart is worth: everything it rests on must be as it was. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card/decide.ts';
import type { Observed, Talk } from '../../../runtime/agent-card/observed.ts';
import { reached } from '../../../runtime/agent-card/verdict.ts';
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
import { unbound } from './situations.ts';

const labelled = { marked: [deploymentMark('true'), podMark('a', 'true')] };
const target = { found: workload({ ...agent, [verified]: 'true' }) };
const before = decide(observed({ ...labelled, target }), now).status;
const silent: Talk = { ...talk, received: undefined, answeredAt: undefined, isAnswered: false, lostAt: later(90_000) };
const restarted = (over: Partial<Observed> = {}, status: AgentCardStatus | undefined = before) =>
  observed({
    ...labelled,
    target,
    card: card({}, status),
    talk: silent,
    assessment: undefined,
    keptSignature: valid,
    ...over,
  });

test('a verdict stands until the agent has been asked, and nothing is written', () => {
  const plan = decide(restarted(), later(1_000));
  assert.deepEqual(plan.status, before);
  assert.deepEqual([patches(plan), plan.notices], [[], []]);
  assert.equal(plan.afterMs, 89_001);
});

test('it stands although its sync period was edited while no operator worked', () => {
  const edited = card({ syncPeriod: '5m' }, before);
  const plan = decide(restarted({ card: { ...edited, metadata: { ...edited.metadata, generation: 2 } } }), now);
  assert.equal(condition(plan, 'Verified'), 'True/SignatureVerified');
  assert.deepEqual([patches(plan), plan.notices], [[], []]);
});

test('a new pod is labelled while a verdict stands', () => {
  const plan = decide(restarted({ marked: [...labelled.marked, podMark('b')] }), now);
  assert.deepEqual(patches(plan), ['+b']);
});

const audit = { isRequired: true, isAudit: true, profiles: 'all' } as const;

const untrusted = { isValid: false, reason: 'untrusted-chain', detail: 'by nobody that is trusted' } as const;

const doubts: readonly (readonly [string, Partial<Observed>, AgentCardStatus?])[] = [
  ['its signature is not good by the bundle of now', { keptSignature: untrusted }],
  ['there is no card in it whose signature could be looked at', { keptSignature: undefined }],
  ['the bundle is gone', { bundle: { kind: 'unavailable', message: 'gone' } }],
  ['what it is about has changed since', {}, { ...before, verdictFor: 'other' }],
  [
    'it is of an earlier release and of another generation',
    {},
    { ...before, verdictFor: undefined as never, observedGeneration: 0 },
  ],
  ['the certificate has ended', { keptSignature: { ...valid, expires: later(-1) } }],
  ['nobody was verified', {}, { ...before, conditions: [] }],
  [
    'it is about another target',
    {},
    { ...before, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' } },
  ],
  ['the workload is another of that name', { target: { found: workload() } }],
  ['contact is lost', { talk: { ...silent, isLost: true } }],
  ['another identity would have to sign', { keptSignature: unbound }],
];

for (const [name, over, status] of doubts) {
  test(`it does not stand when ${name}`, () => {
    const plan = decide(restarted(over, status), now);
    assert.match(condition(plan, 'Verified'), /^False\//);
    assert.deepEqual(patches(plan), ['-weather', '-a']);
  });
}

const invalid = { isValid: false, reason: 'no-signature', detail: 'it has no signature' } as const;
const tooLarge = { kind: 'read', document: { card: undefined, cardHash: 'h', agent: {} } } as const;
const bindings = card({ identityBinding: {} });

const refusals: readonly (readonly [situation: string, when: Partial<Observed>, says: string])[] = [
  ['a signature that is missing', { assessment: read(invalid) }, 'False/NoSignature'],
  ['an identity that may not sign', { assessment: read(unbound) }, 'False/NotBound'],
  ['an identity that may not sign, by its card', { card: bindings, assessment: read(unbound) }, 'False/NotBound'],
  ['a certificate that has ended', { assessment: read({ ...valid, expires: later(-1) }) }, 'False/Expired'],
  [
    'what is no card',
    { assessment: { kind: 'refused', reason: 'NotACard', signatureReason: 'duplicate-member', detail: 'twice' } },
    'False/DuplicateMember',
  ],
  [
    'contact that is lost',
    { talk: { ...talk, isLost: true, failure: { reason: 'Timeout', message: 'gave no answer' } } },
    'False/ContactLost',
  ],
  ['a card that is too large', { assessment: { ...tooLarge, verification: invalid } }, 'False/NoSignature'],
  ['in audit mode', { assessment: read(invalid), policy: audit }, 'False/NoSignature'],
];

for (const [situation, when, says] of refusals) {
  test(`a restart writes nothing of a card that is not verified, until an answer comes: ${situation}`, () => {
    const was = decide(observed(when), now).status;
    const { policy = observed().policy, card: of = card() } = when;
    const unasked = observed({
      card: { ...of, ...(was && { status: was }) },
      policy,
      talk: silent,
      assessment: undefined,
    });
    const plan = decide(unasked, later(1_000));
    assert.equal(condition(plan, 'Verified'), says);
    assert.deepEqual(plan.status, was);
    assert.deepEqual([patches(plan), plan.notices, plan.afterMs], [[], [], 89_001]);
    const lost = decide({ ...unasked, talk: { ...silent, isLost: true, lostAt: later(0) } }, later(90_000));
    assert.equal(condition(lost, 'Verified'), 'False/ContactLost');
  });
}

test('a card that is too large to be stored is verified by an answer alone', () => {
  const was = decide(observed({ ...labelled, target, assessment: { ...tooLarge, verification: valid } }), now).status;
  const plan = decide(restarted({ keptSignature: undefined }, was), now);
  assert.equal(condition(plan, 'Verified'), 'False/NotFetched');
  assert.equal(condition(plan, 'Ready'), 'False/CardTooLarge');
  assert.deepEqual(patches(plan), ['-weather', '-a']);
});

test('it says what the signature says, whatever the status does: neither longer nor by another', () => {
  const forged = {
    ...before,
    certificateExpires: '2037-01-01T00:00:00Z',
    signatureSpiffeId: 'spiffe://cluster.local/x',
  };
  const plan = decide(restarted({}, forged), now);
  assert.deepEqual(plan.status, before);
  assert.equal(reached(restarted({}, forged), now).expires, valid.expires.toISOString());
});

const refused = decide(observed({ assessment: read(invalid) }), now).status;
const anew: readonly (readonly [change: string, over: Partial<Observed>, status: AgentCardStatus, says: string])[] = [
  ['the spec', {}, { ...refused, verdictFor: 'other' }, 'False/NotFetched'],
  [
    'the bundle, which is gone',
    { bundle: { kind: 'unavailable', message: 'gone' } },
    refused ?? {},
    'False/TrustBundleUnavailable',
  ],
  ['the workload, which is no agent any more', { target: { found: workload({}) } }, refused ?? {}, 'False/NotFetched'],
];
for (const [change, over, status, says] of anew) {
  test(`a refusal does not stand after a change of ${change}`, () => {
    assert.equal(condition(decide(restarted({ marked: [], ...over }, status), now), 'Verified'), says);
  });
}

test('what was lost opens with an answer alone, in a new process as well', () => {
  const lost = decide(observed({ ...labelled, target, talk: { ...talk, isLost: true } }), now).status;
  const marks = { marked: [deploymentMark(), podMark('a')], target: { found: workload() } };
  const patient = { ...card({ syncPeriod: '1h' }, lost), metadata: { ...card().metadata, generation: 2 } };
  for (const one of [card({}, lost), patient]) {
    const plan = decide(restarted({ ...marks, card: one }, lost), now);
    assert.match(condition(plan, 'Verified'), /^False/);
    assert.deepEqual(patches(plan), []);
  }
  assert.deepEqual(patches(decide(restarted({ ...marks, talk, assessment: read(valid) }, lost), now)), [
    '+weather',
    '+a',
  ]);
});

test('the mode is told anew', () => {
  const plan = decide(restarted({ policy: audit }), now);
  const message = plan.status?.conditions?.find(({ type }) => type === 'Verified')?.message ?? '';
  assert.match(message, /^Audit mode: Signed by/);
  const again = decide(
    observed({ card: card({}, plan.status), policy: audit, talk: silent, assessment: undefined, keptSignature: valid }),
    now,
  );
  assert.deepEqual(again.status, plan.status);
});

test('it is replaced by what the agent serves', () => {
  const plan = decide(restarted({ talk, assessment: read({ ...valid, spiffeId: 'spiffe://cluster.local/x' }) }), now);
  assert.equal(plan.status?.signatureSpiffeId, 'spiffe://cluster.local/x');
});
