/** Observed → Plan: the verified label, the status, what is worth an event, and when time alone changes something. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import type { Plan } from '../engine/types.ts';
import { recheckMs } from './assessments.ts';
import { findingsOf } from './findings.ts';
import { foreignRemovals } from './foreign.ts';
import { notices } from './notices.ts';
import type { Observed } from './observed.ts';
import { periodOf, refreshMs } from './period.ts';
import { statusOf } from './status.ts';
import { type Verdict, verdictOf } from './verdict.ts';
import { labelPatches } from './verified-label.ts';

/** Pure. Applying the plan and observing again gives a plan that changes nothing. */
export function decide(observed: Observed, now: Date): Plan<AgentCardStatus> {
  const verdict = verdictOf(observed, now);
  const status = statusOf(observed, { verdict, findings: findingsOf(observed, verdict) }, now);
  return {
    patch: [...labelPatches(observed, verdict), ...foreignRemovals(observed.card, status)],
    status,
    notices: notices(observed.card.status, status),
    ...nextLook(observed, { verdict, status }, now),
  };
}

interface Decided {
  readonly verdict: Verdict;
  readonly status: AgentCardStatus;
}

/** The earliest moment at which a pass would find something else although nobody told. */
function nextLook(observed: Observed, decided: Decided, now: Date): { readonly afterMs?: number } {
  const times = [certificateEnd(decided), lostAt(observed, decided), refreshAt(observed, decided)]
    .filter((time) => time !== undefined)
    .map((time) => time - now.getTime() + 1);
  const rechecks = isNotYetValid(decided.verdict) ? [recheckMs + 1] : [];
  const all = [...times, ...rechecks];
  return all.length === 0 ? {} : { afterMs: Math.max(1, Math.ceil(Math.min(...all))) };
}

/** SG-13: both ends of a certificate's life are part of it. */
function certificateEnd({ verdict }: Decided): number | undefined {
  return verdict.kind === 'signed' ? verdict.signature.expires.getTime() : undefined;
}

function isNotYetValid(verdict: Verdict): boolean {
  return verdict.kind === 'closed' && verdict.reason === 'NotYetValid';
}

/** Only what an agent's answer said can be lost. */
function lostAt({ talk }: Observed, { verdict }: Decided): number | undefined {
  const isOfAnswer = verdict.kind === 'signed' || verdict.kind === 'standing';
  return isOfAnswer && !talk.isLost ? talk.lostAt?.getTime() : undefined;
}

/** No answer is told that is as before, so the time of the last one would stay for ever. */
function refreshAt({ card, talk }: Observed, { status }: Decided): number | undefined {
  const standing = Date.parse(status.lastSyncTime ?? '');
  if (talk.answeredAt === undefined || !(talk.answeredAt.getTime() >= standing + 1_000)) return undefined;
  return standing + refreshMs(periodOf(card));
}
