/** Observed and verdict → the whole desired status of an AgentCard; times move only when something else does, or rarely. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import { type Condition, type Finding, mergeConditions } from '../api/conditions.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import { plainText } from '../encoding/plain-text.ts';
import { judgedPart } from '../workload/verdicts.ts';
import { ours } from './foreign.ts';
import type { Observed } from './observed.ts';
import { periodOf, refreshMs } from './period.ts';
import type { Valid, Verdict } from './verdict.ts';

export interface Found {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
}

export function statusOf(observed: Observed, { verdict, findings }: Found, now: Date): AgentCardStatus {
  const { card, protocols, kept } = observed;
  const { generation } = card.metadata;
  const previous = card.status;
  const next = present({
    protocol: protocols[0] ?? kept.protocol,
    ...documentMembers(observed),
    observedGeneration: generation,
    targetRef: card.spec?.targetRef,
    conditions: [...mergeConditions(previous?.conditions, findings, now, generation)],
    ...verdictMembers(observed, verdict, findings),
  });
  return present({ ...next, lastSyncTime: lastSync(observed, next, now) });
}

/** A failed fetch, a restart, a workload that is gone for a while: the last card stays. */
function documentMembers(observed: Observed): AgentCardStatus {
  const { assessment, talk } = observed;
  if (assessment?.kind === 'read') {
    const { card, cardHash, agent } = assessment.document;
    return { card, cardHash, agent: present({ ...agent, path: talk.received?.path }) };
  }
  const { card, cardHash, agent } = observed.kept;
  return { card, cardHash, agent };
}

function verdictMembers(observed: Observed, verdict: Verdict, findings: readonly Finding[]): AgentCardStatus {
  const verified = findings.find(({ type }) => type === 'Verified');
  const bound = findings.find(({ type }) => type === 'Bound');
  const bindingStatus = bound && { bound: bound.status === 'True', reason: bound.reason, message: bound.message };
  if (verdict.kind === 'off') return { bindingStatus };
  const details = plainText(verified?.message ?? '', 1_024);
  const told = { signatureVerificationDetails: details, bindingStatus, verdictFor: judgedPart(observed.card) };
  const { bundle } = observed;
  const trustBundleHash = bundle?.kind === 'usable' ? bundle.bundle.hash : undefined;
  switch (verdict.kind) {
    case 'signed':
      return { ...told, trustBundleHash, ...signatureMembers(verdict.signature) };
    case 'standing':
      return { ...told, ...standingMembers(verdict.status) };
    default:
      return { ...told, validSignature: false };
  }
}

function signatureMembers(signature: Valid): AgentCardStatus {
  const { keyId, spiffeId, algorithm, profile, expires, unsigned } = signature;
  const pointers = unsigned.slice(0, 64).map((pointer) => plainText(pointer, 1_024));
  return {
    validSignature: true,
    signatureKeyId: keyId === undefined ? undefined : plainText(keyId, 256),
    signatureSpiffeId: spiffeId,
    signatureAlgorithm: algorithm,
    signatureProfile: profile,
    unsignedMembers: pointers.length === 0 ? undefined : pointers,
    certificateExpires: kubeTime(expires),
  };
}

function standingMembers(status: AgentCardStatus): AgentCardStatus {
  const { validSignature, signatureKeyId, signatureSpiffeId, signatureAlgorithm, signatureProfile } = status;
  const { unsignedMembers, certificateExpires, trustBundleHash } = status;
  const identity = { signatureKeyId, signatureSpiffeId, signatureAlgorithm, signatureProfile };
  return { validSignature, trustBundleHash, ...identity, unsignedMembers, certificateExpires };
}

/** The time of the last answer when anything else changes or the one that stands is old; else the one that stands. */
function lastSync(observed: Observed, next: AgentCardStatus, now: Date): string | undefined {
  const { card, talk, kept } = observed;
  const standing = kept.lastSyncTime;
  if (talk.answeredAt === undefined) return standing;
  const answered = kubeTime(talk.answeredAt);
  if (standing === undefined || fingerprint(card.status) !== fingerprint(next)) return answered;
  const isOld = now.getTime() - Date.parse(standing) >= refreshMs(periodOf(card));
  return isOld ? answered : standing;
}

/** What is ours of a status, apart from the time; the card itself is known by its hash and its signatures. */
function fingerprint(status: AgentCardStatus | undefined): string {
  const { lastSyncTime: _, conditions = [], card, ...rest } = status ?? {};
  const own = conditions.filter(({ type }) => ours.includes(type)).map(told);
  return canonicalJson(JSON.parse(JSON.stringify({ ...rest, conditions: own, signatures: card?.['signatures'] })));
}

const told = ({ type, status, reason, message }: Condition) => ({ type, status, reason, message });

/** `metav1.Time`: RFC 3339 in whole seconds. */
function kubeTime(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Without the members that are undefined: JSON has none, and a comparison must not see them. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
