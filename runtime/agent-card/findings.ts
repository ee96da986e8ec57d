/** The conditions of an AgentCard: each a pure function of what was observed and of the verdict. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import type { agentCardReasons, Finding } from '../api/conditions.ts';
import { keptCondition } from './kept.ts';
import type { Observed } from './observed.ts';
import { sentence } from './sentence.ts';
import type { Verdict } from './verdict.ts';

/** One for each condition that applies. */
export function findingsOf(observed: Observed, verdict: Verdict): readonly Finding[] {
  const synced = syncedFinding(observed);
  const verified = verifiedFinding(observed, verdict);
  const told = [verified, boundFinding(observed, verdict)].filter((one) => one !== undefined);
  return [synced, ...told, readyFinding(observed, { synced, verified })];
}

type SyncedReason = (typeof agentCardReasons.Synced)[number];

function syncedFinding(observed: Observed): Finding {
  const { obstacle, talk, assessment } = observed;
  if (obstacle !== undefined) return notSynced(obstacle.reason, obstacle.message);
  if (talk.failure !== undefined) return notSynced(talk.failure.reason, sentence(talk.failure.message));
  if (!talk.isAnswered) return before(observed) ?? notSynced('Fetching', `The card is being fetched: ${talk.via}.`);
  if (assessment?.kind === 'refused') return notSynced(assessment.reason, sentence(assessment.detail));
  const message = `The card is served at ${talk.received?.path ?? ''} (${talk.via}).`;
  return { type: 'Synced', status: 'True', reason: 'CardSynced', message };
}

const notSynced = (reason: SyncedReason, message: string): Finding => ({
  type: 'Synced',
  status: 'False',
  reason,
  message,
});

/** A new process, or another address, has not asked yet: what was found out last stands until it has. */
const isOfAsking = (reason: string): boolean => !notOfAsking.includes(reason);
const notOfAsking: readonly string[] = [
  'DuplicateTarget',
  'WorkloadNotFound',
  'WorkloadUnavailable',
  'TargetUnsupported',
  'NotAgentWorkload',
  'NoProtocol',
  'WorkloadNotReady',
  'ServiceNotFound',
] satisfies readonly SyncedReason[];

function before({ kept }: Observed): Finding | undefined {
  const old = keptCondition(kept, 'Synced');
  if (old === undefined || !isOfAsking(old.reason)) return undefined;
  return { type: 'Synced', status: old.status, reason: old.reason, message: old.message };
}

const audit = 'Audit mode: ';

function verifiedFinding(observed: Observed, verdict: Verdict): Finding | undefined {
  switch (verdict.kind) {
    case 'off':
      return undefined;
    case 'standing':
      return again('Verified', verdict.status, observed);
    case 'closed':
      return told(observed, { type: 'Verified', status: 'False', reason: verdict.reason, message: verdict.message });
    default: {
      const { signature, isVerified } = verdict;
      const who = `Signed by ${signature.spiffeId} (${signature.algorithm}).`;
      const message = signature.isBound ? who : `${who} ${sentence(signature.binding.message)}`;
      const result = isVerified
        ? ({ status: 'True', reason: 'SignatureVerified' } as const)
        : ({ status: 'False', reason: 'NotBound' } as const);
      return told(observed, { type: 'Verified', ...result, message });
    }
  }
}

function boundFinding(observed: Observed, verdict: Verdict): Finding | undefined {
  if (!observed.binding.isAsked) return undefined;
  if (verdict.kind === 'standing') return again('Bound', verdict.status, observed);
  if (verdict.kind !== 'signed') {
    const why = verdict.kind === 'off' ? 'Signatures are not verified in this install.' : verdict.message;
    return told(observed, { type: 'Bound', status: 'False', reason: 'NoIdentity', message: why });
  }
  const { isBound, binding } = verdict.signature;
  const { reason } = binding;
  return told(observed, {
    type: 'Bound',
    status: isBound ? 'True' : 'False',
    reason,
    message: sentence(binding.message),
  });
}

/** As the status says, apart from the mode. */
function again(type: string, { conditions = [] }: AgentCardStatus, observed: Observed): Finding | undefined {
  const old = conditions.find((condition) => condition.type === type);
  if (old === undefined) return undefined;
  const message = old.message.startsWith(audit) ? old.message.slice(audit.length) : old.message;
  return told(observed, { type, status: old.status, reason: old.reason, message });
}

function told({ policy }: Observed, finding: Finding): Finding {
  return policy.isAudit && policy.isRequired ? { ...finding, message: `${audit}${finding.message}` } : finding;
}

interface Judged {
  readonly synced: Finding;
  /** Undefined where signatures are not verified. */
  readonly verified: Finding | undefined;
}

/** Whether the card can be relied on. In audit mode nothing follows from a verdict, so this does not either. */
function readyFinding(observed: Observed, { synced, verified }: Judged): Finding {
  const type = 'Ready';
  const not = (reason: (typeof agentCardReasons.Ready)[number], message: string): Finding => ({
    type,
    status: 'False',
    reason,
    message,
  });
  if (synced.status !== 'True') return not('NotSynced', synced.message);
  if (isTooLarge(observed)) return not('CardTooLarge', tooLarge);
  if (verified?.status === 'False' && !observed.policy.isAudit) return not('NotVerified', verified.message);
  const message = verified?.status === 'False' ? unrelied : 'The card is fetched and can be relied on.';
  return { type, status: 'True', reason: 'CardReady', message };
}

const unrelied =
  'The card is fetched. It is not verified: without audit mode it could not be relied on. Condition Verified says why.';

/** A card that is not stored was, as far as one knows, too large to be. */
function isTooLarge({ assessment, kept }: Observed): boolean {
  const { card, cardHash } = assessment?.kind === 'read' ? assessment.document : kept;
  return cardHash !== undefined && card === undefined;
}

const tooLarge =
  'The card is larger than 256 KiB and is not stored in status.card; agent, cardHash and the verdict are about it all the same. Make it smaller.';
