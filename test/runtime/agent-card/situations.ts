/** Situations of an AgentCard, each with what its conditions say and which labels are written. */

import type { Observed, Talk } from '../../../runtime/agent-card/observed.ts';
import { card, deploymentMark, later, podMark, read, talk, valid, workload } from './card-fixtures.ts';

const invalid = { isValid: false, reason: 'signature-invalid', detail: 'it does not match' } as const;
export const unbound = {
  ...valid,
  isBound: false,
  binding: { reason: 'TrustDomainMismatch', message: 'signed by another' },
} as const;
export const silent: Talk = {
  ...talk,
  received: undefined,
  answeredAt: undefined,
  isAnswered: false,
  lostAt: later(90_000),
};
const failing: Talk = { ...talk, failure: { reason: 'Timeout', message: 'gave no answer' } };
export const labelled = { marked: [deploymentMark('true'), podMark('a', 'true')] };
const lax = { card: card({ identityBinding: { strict: false } }) };
const broken = { kind: 'unavailable', message: 'ConfigMap spire/spire-bundle does not exist.' } as const;
const audit = { isRequired: true, isAudit: true, profiles: 'all' } as const;
const off = { isRequired: false, isAudit: false, profiles: 'all' } as const;

export interface Row {
  readonly name: string;
  readonly when: Partial<Observed>;
  readonly says: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
}

const open = { Synced: 'True/CardSynced', Verified: 'True/SignatureVerified', Ready: 'True/CardReady' };
export const closing = ['-weather', '-a'];

export const rows: readonly Row[] = [
  { name: 'a good signature opens', when: {}, says: open, writes: ['+weather', '+a'] },
  { name: 'what is labelled already is left alone', when: labelled, says: open, writes: [] },
  {
    name: 'a signature that is not good closes',
    when: { ...labelled, assessment: read(invalid) },
    says: { Synced: 'True/CardSynced', Verified: 'False/SignatureInvalid', Ready: 'False/NotVerified' },
    writes: closing,
  },
  {
    name: 'an identity that may not sign closes',
    when: { ...labelled, assessment: read(unbound) },
    says: { Verified: 'False/NotBound', Bound: 'absent', Ready: 'False/NotVerified' },
    writes: closing,
  },
  {
    name: 'an identity that may not sign is only reported where the card says so',
    when: { ...lax, assessment: read(unbound) },
    says: { ...open, Bound: 'False/TrustDomainMismatch' },
    writes: ['+weather', '+a'],
  },
  {
    name: 'a bundle that cannot be had closes, however good the signature was',
    when: { ...labelled, bundle: broken },
    says: { Synced: 'True/CardSynced', Verified: 'False/TrustBundleUnavailable' },
    writes: closing,
  },
  {
    name: 'a trust domain that is not known closes',
    when: {
      ...labelled,
      binding: { trustDomain: { unknown: 'line 3' }, workload: undefined, isStrict: true, isAsked: false },
    },
    says: { Verified: 'False/NotBound' },
    writes: closing,
  },
  {
    name: 'a failed fetch leaves the verdict',
    when: { ...labelled, talk: failing },
    says: { Synced: 'False/Timeout', Verified: 'True/SignatureVerified', Ready: 'False/NotSynced' },
    writes: [],
  },
  {
    name: 'contact that is lost closes',
    when: { ...labelled, talk: { ...failing, isLost: true } },
    says: { Synced: 'False/Timeout', Verified: 'False/ContactLost' },
    writes: closing,
  },
  {
    name: 'no card yet is no verdict',
    when: { talk: silent, assessment: undefined },
    says: { Synced: 'False/Fetching', Verified: 'False/NotFetched' },
    writes: [],
  },
  {
    name: 'a pod that is not ready is waited for, and the verdict stands',
    when: { ...labelled, whereabouts: { reason: 'WorkloadNotReady', message: 'no pod is ready' } },
    says: { Synced: 'False/WorkloadNotReady', Verified: 'True/SignatureVerified' },
    writes: [],
  },
  {
    name: 'a workload that is no agent any more is closed at once',
    when: { ...labelled, target: { found: workload({}) } },
    says: { Synced: 'False/NotAgentWorkload', Verified: 'False/NotFetched' },
    writes: closing,
  },
  {
    name: 'a workload without a protocol is closed at once',
    when: { ...labelled, target: { found: workload({ 'rossoctl.io/type': 'agent' }) } },
    says: { Synced: 'False/NoProtocol', Verified: 'False/NotFetched' },
    writes: closing,
  },
  {
    name: 'a workload that is gone leaves nobody to label',
    when: { target: { missing: true }, marked: [] },
    says: { Synced: 'False/WorkloadNotFound', Verified: 'False/NotFetched' },
    writes: [],
  },
  {
    name: 'a kind that cannot be read leaves the verdict',
    when: { target: { unreadable: 'watch jobs: 403' }, marked: [] },
    says: { Synced: 'False/WorkloadUnavailable', Verified: 'True/SignatureVerified' },
    writes: [],
  },
  {
    name: 'RC-07: a card that comes second writes on nobody',
    when: { ...labelled, winner: { ...card(), metadata: { name: 'first' } } },
    says: { Synced: 'False/DuplicateTarget', Verified: 'False/NotFetched' },
    writes: [],
  },
  {
    name: 'audit mode opens nothing and closes what was open',
    when: { ...labelled, policy: audit },
    says: open,
    writes: closing,
  },
  {
    name: 'audit mode tells a bad signature, and Ready does not follow it',
    when: { policy: audit, assessment: read(invalid) },
    says: { Verified: 'False/SignatureInvalid', Ready: 'True/CardReady' },
    writes: [],
  },
  {
    name: 'without verification labels go and nothing is said of signatures',
    when: { ...labelled, policy: off, bundle: undefined, assessment: read(undefined) },
    says: { Synced: 'True/CardSynced', Verified: 'absent', Bound: 'absent', Ready: 'True/CardReady' },
    writes: closing,
  },
  {
    name: 'a former target is released before the new one is labelled',
    when: { former: [podMark('old', 'true')] },
    says: open,
    writes: ['-old', '+weather', '+a'],
  },
  {
    name: 'pods that end lose the label first',
    when: { ...labelled, strays: [podMark('ending', 'true')], assessment: read(invalid) },
    says: { Verified: 'False/SignatureInvalid' },
    writes: ['-ending', '-weather', '-a'],
  },
  {
    name: 'a pod that ends keeps the label while the card is verified',
    when: { ...labelled, strays: [podMark('ending', 'true')] },
    says: open,
    writes: [],
  },
  {
    name: 'a card too large to store is verified and not ready',
    when: {
      ...labelled,
      assessment: { kind: 'read', document: { card: undefined, cardHash: 'h', agent: {} }, verification: valid },
    },
    says: { Verified: 'True/SignatureVerified', Ready: 'False/CardTooLarge' },
    writes: [],
  },
  {
    name: 'what is no card closes with its own reason',
    when: {
      ...labelled,
      assessment: { kind: 'refused', reason: 'NotACard', signatureReason: 'duplicate-member', detail: 'twice' },
    },
    says: { Synced: 'False/NotACard', Verified: 'False/DuplicateMember' },
    writes: closing,
  },
];
