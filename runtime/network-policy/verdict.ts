/** Whether an AgentCard's network is open: only while the operator's own verdict about this very spec says verified. */

import type { AgentCard } from '../api/agent-card.ts';
import { judgedPart, type Verdict as Reached } from '../workload/verdicts.ts';

export type Verdict =
  /** `afterMs`: until the certificate that the verdict rests on ends. */
  | { readonly isOpen: true; readonly afterMs?: number }
  /** `why` completes "the network is closed: …". */
  | { readonly isOpen: false; readonly why: string };

/** Besides the card. */
export interface Known {
  /** Undefined: this process has not judged the card yet. */
  readonly reached: Reached | undefined;
  /** `judgedPart` of the spec for which the network is open now. */
  readonly opened: string | undefined;
}

const closed = (why: string): Verdict => ({ isOpen: false, why });

/**
 * Verifies nothing again, and every doubt closes: no verdict, one about another target or binding, an end that has passed or cannot be read.
 * A status opens nothing, for others may have written it, or an operator with other settings.
 */
export function verdictOf(card: AgentCard, now: Date, { reached, opened }: Known): Verdict {
  if (reached === undefined) return standing(card, now, opened);
  if (!reached.isVerified) return closed(`its card is not verified (${reached.reason})`);
  if (reached.about !== judgedPart(card)) return closed('the verdict is about an earlier spec of its card');
  return untilEnd(reached.expires, now);
}

/** A restart closes nothing that is open: it stands until the card has been judged, unless the last process took its verdict back. */
function standing(card: AgentCard, now: Date, opened: string | undefined): Verdict {
  const { conditions, certificateExpires } = card.status ?? {};
  const verified = conditions?.find(({ type }) => type === 'Verified');
  if (opened === undefined || verified === undefined) return closed('there is no verdict on its card yet');
  if (verified.status !== 'True') return closed(`its card is not verified (${verified.reason})`);
  if (opened !== judgedPart(card)) return closed('the verdict is about an earlier spec of its card');
  return untilEnd(certificateExpires, now);
}

function untilEnd(expires: string | undefined, now: Date): Verdict {
  if (expires === undefined) return { isOpen: true };
  const leftMs = Date.parse(expires) - now.getTime();
  return leftMs > 0
    ? { isOpen: true, afterMs: leftMs }
    : closed('the certificate that its card was signed with has expired');
}
