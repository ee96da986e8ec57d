/** Metrics of the verification of cards: each judgement counted once, states read where they are, no series of an object that is gone. */

import type { AgentCard } from '../api/agent-card.ts';
import { signatureReasons } from '../api/conditions.ts';
import type { Metrics } from '../engine/types.ts';
import type { Assessment, Rules } from './assess.ts';
import type { AttemptResult } from './contacts.ts';

const provider = 'x5c';
const bindingReasons = { TrustDomainMismatch: 'trust-domain-mismatch', WorkloadMismatch: 'workload-mismatch' } as const;

/** Every value of label `error_type`. */
export const errorTypes: readonly string[] = [...signatureReasons, ...Object.values(bindingReasons)];

export type Judge = (body: Uint8Array, rules: Rules | undefined, now: Date) => Assessment;

/** The same function, counted and timed where it verifies a signature. `monotonicMs`: milliseconds of a clock that never goes back. */
export function metered(judge: Judge, metrics: Metrics, monotonicMs: () => number): Judge {
  const total = metrics.counter<'provider' | 'result'>({
    name: 'a2a_signature_verification_total',
    help: 'Verifications of agent cards: valid, or invalid for whatever reason.',
    labels: ['provider', 'result'],
  });
  const errors = metrics.counter<'error_type'>({
    name: 'a2a_signature_verification_errors_total',
    help: 'Verifications that found no valid signature of an identity that may sign, by reason.',
    labels: ['error_type'],
  });
  const duration = metrics.histogram<'provider'>({
    name: 'a2a_signature_verification_duration_seconds',
    help: 'How long one verification takes.',
    labels: ['provider'],
  });
  return (body, rules, now) => {
    const begun = monotonicMs();
    const assessment = judge(body, rules, now);
    if (rules === undefined) return assessment;
    duration.observe({ provider }, (monotonicMs() - begun) / 1000);
    const error = errorOf(assessment);
    total.inc({ provider, result: isValid(assessment) ? 'valid' : 'invalid' });
    if (error !== undefined) errors.inc({ error_type: error });
    return assessment;
  };
}

function isValid(assessment: Assessment): boolean {
  return assessment.kind === 'read' && assessment.verification?.isValid === true;
}

function errorOf(assessment: Assessment): string | undefined {
  if (assessment.kind === 'refused') return assessment.signatureReason;
  const { verification } = assessment;
  if (verification === undefined) return undefined;
  if (!verification.isValid) return verification.reason;
  return verification.binding.reason === 'Bound' ? undefined : bindingReasons[verification.binding.reason];
}

/** For `ContactsOptions.onAttempt`. */
export function countFetches(metrics: Metrics): (result: AttemptResult, ms: number) => void {
  const total = metrics.counter<'outcome'>({
    name: 'rossoctl_agentcard_fetches_total',
    help: 'Attempts to fetch a card that have ended: card, unchanged, or why there was none.',
    labels: ['outcome'],
  });
  return (outcome) => total.inc({ outcome });
}

/** How many cards there are by what their status says of the signature; nothing on a replica that does not see them. */
export function countCards(metrics: Metrics, cards: () => readonly AgentCard[]): void {
  metrics.gauge<'verified'>({
    name: 'rossoctl_agentcards',
    help: 'Agent cards by condition Verified: true, false, or unknown where signatures are not verified.',
    labels: ['verified'],
    collect: (gauge) => {
      const counts = new Map<string, number>([...states].map((verified) => [verified, 0]));
      for (const card of cards()) counts.set(stateOf(card), (counts.get(stateOf(card)) ?? 0) + 1);
      for (const [verified, count] of counts) gauge.set({ verified }, count);
    },
  });
}

const states = ['true', 'false', 'unknown'] as const;

function stateOf({ status }: AgentCard): (typeof states)[number] {
  const verified = status?.conditions?.find(({ type }) => type === 'Verified')?.status;
  if (verified === undefined) return 'unknown';
  return verified === 'True' ? 'true' : 'false';
}

/** The age of what is trusted, and what of it could not be read. */
export function watchBundle(
  metrics: Metrics,
  look: () => { readonly ageSeconds: number; readonly warnings: number } | undefined,
): void {
  metrics.gauge({
    name: 'rossoctl_x5c_trust_bundle_age_seconds',
    help: 'Time since this process first saw the trust bundle in its present content; absent while there is none to use.',
    collect: (gauge) => {
      const now = look();
      if (now === undefined) gauge.remove({});
      else gauge.set({}, now.ageSeconds);
    },
  });
  metrics.gauge({
    name: 'rossoctl_x5c_trust_bundle_unusable_parts',
    help: 'Parts of the trust bundle that are no certificate and were left out.',
    collect: (gauge) => {
      const now = look();
      if (now === undefined) gauge.remove({});
      else gauge.set({}, now.warnings);
    },
  });
}
