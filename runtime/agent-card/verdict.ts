/** Whether a card is verified now, and why (not): from the assessment, from the status of before a restart, or closed. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import { conditionReason } from '../api/conditions.ts';
import { labels } from '../api/names.ts';
import type { Verification } from '../signature/verify.ts';
import { judgedPart, type Verdict as Reached } from '../workload/verdicts.ts';
import { admits } from './binding.ts';
import { keptCondition } from './kept.ts';
import type { Observed } from './observed.ts';
import { sentence } from './sentence.ts';

export type Valid = Extract<Verification, { readonly isValid: true }>;

export type Verdict =
  /** Signatures are not verified. */
  | { readonly kind: 'off' }
  | { readonly kind: 'signed'; readonly signature: Valid; readonly isVerified: boolean }
  /** Reason and sentence of condition Verified. */
  | { readonly kind: 'closed'; readonly reason: string; readonly message: string; readonly isVerified: false }
  /** Of an earlier process, and no answer has come since. */
  | { readonly kind: 'standing'; readonly status: AgentCardStatus; readonly isVerified: boolean };

/** Doubt closes: only a signature that was judged good, now or under this very bundle before a restart, opens. */
export function verdictOf(observed: Observed, now: Date): Verdict {
  if (!observed.policy.isRequired) return { kind: 'off' };
  return impossible(observed) ?? judged(observed, now) ?? standing(observed, now) ?? unknown(observed);
}

/** The same for who acts on it: nothing of it is read from what others may have written, apart from what `stands` vouches for. */
export function reached(observed: Observed, now: Date): Reached {
  const verdict = verdictOf(observed, now);
  const about = judgedPart(observed.card);
  switch (verdict.kind) {
    case 'off':
      return { isVerified: false, reason: 'NotRequired', about };
    case 'signed': {
      const reason = verdict.isVerified ? 'SignatureVerified' : 'NotBound';
      return { isVerified: verdict.isVerified, reason, about, expires: verdict.signature.expires.toISOString() };
    }
    case 'closed':
      return { isVerified: false, reason: verdict.reason, about };
    default: {
      const { isVerified, status } = verdict;
      const reason = status.conditions?.find(({ type }) => type === 'Verified')?.reason ?? 'NotFetched';
      return { isVerified, reason, about, expires: status.certificateExpires };
    }
  }
}

const closed = (reason: string, message: string): Verdict => ({ kind: 'closed', reason, message, isVerified: false });

/** What makes any verdict void, however good a signature is. */
function impossible({ obstacle, bundle, binding, talk }: Observed): Verdict | undefined {
  if (obstacle?.isFinal === true) return closed('NotFetched', `No card is fetched: ${obstacle.message}`);
  if (bundle?.kind === 'unavailable') {
    return closed('TrustBundleUnavailable', `Signatures cannot be verified: ${bundle.message}`);
  }
  if ('unknown' in binding.trustDomain) {
    return closed('NotBound', `Which trust domain counts is not known: ${binding.trustDomain.unknown}`);
  }
  if (talk.isLost && talk.received !== undefined) return lost;
  return undefined;
}

const lost = closed(
  'ContactLost',
  'The agent has not served its card for too long, so its last verdict does not stand any more. Condition Synced says why.',
);

function judged({ assessment, binding }: Observed, now: Date): Verdict | undefined {
  if (assessment === undefined) return undefined;
  if (assessment.kind === 'refused')
    return closed(conditionReason(assessment.signatureReason), sentence(assessment.detail));
  const { verification } = assessment;
  if (verification === undefined) return undefined;
  if (!verification.isValid) return closed(conditionReason(verification.reason), sentence(verification.detail));
  if (now.getTime() > verification.expires.getTime()) return expired;
  return { kind: 'signed', signature: verification, isVerified: verification.isBound || !binding.isStrict };
}

const expired = closed(
  'Expired',
  'A certificate of the signature has ended. Sign the card anew; it is verified when it is served.',
);

function standing(observed: Observed, now: Date): Verdict | undefined {
  const { card, talk } = observed;
  if (card.status === undefined || talk.answeredAt !== undefined) return undefined;
  const isVerified = stands(observed, now);
  if (!isVerified && !isRefusal(card)) return undefined;
  return talk.isLost ? lost : { kind: 'standing', status: card.status, isVerified };
}

/** Reasons of condition Verified that speak of what is found anew in each pass, not of what an agent has answered. */
const ofNow: readonly string[] = ['NotFetched', 'TrustBundleUnavailable'];

/** A refusal opens nothing, so it stands whatever else has changed: to take it back for a moment would tell nobody anything. */
function isRefusal(card: AgentCard): boolean {
  const verified = keptCondition(card, 'Verified');
  return verified?.status === 'False' && !ofNow.includes(verified.reason) && isOfThisSpec(card);
}

/** All but the contact that `stands` looks at. */
export type Standing = Pick<Observed, 'card' | 'target' | 'policy' | 'bundle' | 'binding'>;

/**
 * Whether what the status says is as good as a judgement of now: a restart of the operator is no reason to close anything that would be
 * opened again a moment later. Everything it rests on must be as it was.
 */
export function stands(observed: Standing, now: Date): boolean {
  const { card } = observed;
  const { status } = card;
  if (status === undefined || now.getTime() > Date.parse(status.certificateExpires ?? '0')) return false;
  if (keptCondition(card, 'Verified')?.status !== 'True' || !isOfThisSpec(card)) return false;
  return isOfThisWorkload(observed) && isOfTheseRules(observed, status);
}

/** How often it is fetched is no part of it: an edit of that, also while no operator works, closes nothing. */
function isOfThisSpec(card: AgentCard): boolean {
  const { verdictFor, observedGeneration } = card.status ?? {};
  // Release 0.1.0 wrote the generation alone.
  if (verdictFor === undefined) return observedGeneration === card.metadata.generation;
  return verdictFor === judgedPart(card);
}

/** Another workload of the same name does not bear the label. */
function isOfThisWorkload({ target, policy }: Standing): boolean {
  return 'found' in target && (policy.isAudit || target.found.labels[labels.signatureVerified] === 'true');
}

function isOfTheseRules({ bundle, binding, policy }: Standing, status: AgentCardStatus): boolean {
  const { trustBundleHash, signatureSpiffeId, signatureProfile } = status;
  const isSameBundle = bundle?.kind === 'usable' && trustBundleHash === bundle.bundle.hash;
  const isSameProfile = policy.profiles === 'all' || signatureProfile === 'jcs';
  if (!isSameBundle || !isSameProfile || signatureSpiffeId === undefined) return false;
  return admits(binding, signatureSpiffeId) || !binding.isStrict;
}

function unknown({ talk, card }: Observed): Verdict {
  if (talk.isLost && card.status?.cardHash !== undefined) return lost;
  if (talk.received === undefined) return closed('NotFetched', 'No card has been fetched yet.');
  return closed('NotFetched', 'The card is large and must be fetched anew before it can be judged.');
}
