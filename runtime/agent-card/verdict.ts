/** Whether a card is verified now, and why (not): from the assessment, from the status of before a restart, or closed. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import { conditionReason } from '../api/conditions.ts';
import { labels } from '../api/names.ts';
import { profiles } from '../signature/payloads.ts';
import type { Verification } from '../signature/verify.ts';
import { judgedPart, type Verdict as Reached } from '../workload/verdicts.ts';
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
  /** A refusal of an earlier process, and no answer has come since. */
  | { readonly kind: 'standing'; readonly status: AgentCardStatus; readonly isVerified: false };

/** Doubt closes: only a signature that was judged good in this process, of a card that was served or of the one in the status, opens. */
export function verdictOf(observed: Observed, now: Date): Verdict {
  if (!observed.policy.isRequired) return { kind: 'off' };
  return impossible(observed) ?? judged(observed, now) ?? standing(observed, now) ?? unknown(observed);
}

/** The same for who acts on it: nothing that opens is read from what others may have written. */
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
    default:
      return { isVerified: false, reason: keptCondition(verdict.status, 'Verified')?.reason ?? 'NotFetched', about };
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
  const { kept, talk } = observed;
  if (talk.answeredAt !== undefined) return undefined;
  const signature = standingSignature(observed, now);
  if (signature === undefined && !isRefusal(observed)) return undefined;
  if (talk.isLost) return lost;
  return signature === undefined
    ? { kind: 'standing', status: kept, isVerified: false }
    : { kind: 'signed', signature, isVerified: true };
}

/** Reasons of condition Verified that speak of what is found anew in each pass, not of what an agent has answered. */
const ofNow: readonly string[] = ['NotFetched', 'TrustBundleUnavailable'];

/** A refusal opens nothing, so it stands whatever else has changed: to take it back for a moment would tell nobody anything. */
function isRefusal(observed: Observed): boolean {
  const verified = keptCondition(observed.kept, 'Verified');
  return verified?.status === 'False' && !ofNow.includes(verified.reason) && isOfThisSpec(observed);
}

/** All but the contact that `stands` looks at. */
export type Standing = Pick<Observed, 'card' | 'target' | 'policy' | 'binding' | 'kept' | 'keptSignature'>;

/**
 * Whether what was said before is as good as a judgement of now: a restart of the operator is no reason to close anything that would be opened
 * again a moment later. Only a card that was verified and whose signature is good now stands, of the workload that bears the label.
 */
export function stands(observed: Standing, now: Date): boolean {
  return standingSignature(observed, now) !== undefined;
}

function standingSignature(observed: Standing, now: Date): Valid | undefined {
  const { kept, keptSignature: signature, binding } = observed;
  if (signature?.isValid !== true || now.getTime() > signature.expires.getTime()) return undefined;
  if (!signature.isBound && binding.isStrict) return undefined;
  if (!mayStand(observed)) return undefined;
  // What was served is not known any more: only what was found of it.
  const profile = profiles.find((one) => one === kept.signatureProfile) ?? signature.profile;
  return { ...signature, profile, unsigned: kept.unsignedMembers ?? [] };
}

/** Whether it comes to the signature of the card in the status: only of one that was verified, of this spec and this workload. */
export function mayStand(observed: Omit<Standing, 'keptSignature'>): boolean {
  return (
    keptCondition(observed.kept, 'Verified')?.status === 'True' && isOfThisSpec(observed) && isOfThisWorkload(observed)
  );
}

/** How often it is fetched is no part of it: an edit of that, also while no operator works, closes nothing. */
function isOfThisSpec({ card, kept }: Pick<Standing, 'card' | 'kept'>): boolean {
  const { verdictFor, observedGeneration } = kept;
  // Release 0.1.0 wrote the generation alone.
  if (verdictFor === undefined) return observedGeneration === card.metadata.generation;
  return verdictFor === judgedPart(card);
}

/** Another workload of the same name does not bear the label. */
function isOfThisWorkload({ target, policy }: Pick<Standing, 'target' | 'policy'>): boolean {
  return 'found' in target && (policy.isAudit || target.found.labels[labels.signatureVerified] === 'true');
}

function unknown({ talk, kept }: Observed): Verdict {
  if (talk.isLost && kept.cardHash !== undefined) return lost;
  if (talk.received === undefined) return closed('NotFetched', 'No card has been fetched yet.');
  return closed('NotFetched', 'The card is large and must be fetched anew before it can be judged.');
}
