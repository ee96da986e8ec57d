/** Whether a signature of the card in a status is good now: what a status says of a verdict is another's word, the card in it can be judged. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import type { Verification } from '../signature/verify.ts';
import type { Rules } from './assess.ts';
import { createAssessments } from './assessments.ts';
import type { Judge } from './metering.ts';

export interface KeptSignatures {
  /** Undefined: there is no card in it, or nothing that could be verified. */
  of(
    uid: string,
    kept: AgentCardStatus,
    question: { readonly rules: Rules; readonly now: Date },
  ): Verification | undefined;
  forget(uid: string): void;
}

/** A card is judged again only when it, the bundle or the rules have changed, or a date was crossed. */
export function createKeptSignatures(judge: Judge): KeptSignatures {
  const assessments = createAssessments(judge);
  return {
    of: (uid, { card, cardHash: hash }, question) => {
      if (card === undefined || hash === undefined) return undefined;
      const received = { hash, path: '', body: undefined };
      const known = assessments.of(uid, { received, ...question });
      const { assessment } = known.needsBody
        ? assessments.of(uid, { received: { ...received, body: Buffer.from(JSON.stringify(card)) }, ...question })
        : known;
      return assessment?.kind === 'read' ? assessment.verification : undefined;
    },
    forget: (uid) => assessments.forget(uid),
  };
}
