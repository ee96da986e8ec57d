/** What an AgentCard's status says about its network: open only while a standing verdict about this very spec says verified. */

import type { AgentCard } from '../api/agent-card.ts';
import { isSameTarget } from '../api/target-ref.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import { sha256Hex } from '../encoding/digest.ts';

export type Verdict =
  /** `afterMs`: until the certificate that the verdict rests on ends. */
  | { readonly isOpen: true; readonly afterMs?: number }
  /** `why` completes "the network is closed: …". */
  | { readonly isOpen: false; readonly why: string };

const closed = (why: string): Verdict => ({ isOpen: false, why });

/**
 * Reads conditions and verifies nothing again. Every doubt closes: no condition, a verdict about an earlier spec, an end that has passed or
 * cannot be read. `opened` is `judgedPart` of the spec for which the network is open now; a later edit of anything else lets that stand.
 */
export function verdictOf(card: AgentCard, now: Date, opened: string | undefined): Verdict {
  const verified = card.status?.conditions?.find(({ type }) => type === 'Verified');
  if (verified === undefined) return closed('there is no verdict on its card yet');
  if (verified.status !== 'True') return closed(`its card is not verified (${verified.reason})`);
  const { targetRef, certificateExpires } = card.status ?? {};
  if (targetRef !== undefined && !isSameTarget(targetRef, card.spec.targetRef)) {
    return closed(`the verdict is about ${targetRef.kind} ${targetRef.name}`);
  }
  const isCurrent = (verified.observedGeneration ?? card.status?.observedGeneration) === card.metadata.generation;
  if (!isCurrent && opened !== judgedPart(card)) return closed('the verdict is about an earlier spec of its card');
  if (certificateExpires === undefined) return { isOpen: true };
  const leftMs = Date.parse(certificateExpires) - now.getTime();
  if (!(leftMs > 0)) return closed('the certificate that its card was signed with has expired');
  return { isOpen: true, afterMs: leftMs };
}

/** The part of a card's spec that a verdict is about, as a hash: how often it is fetched is none of it. */
export function judgedPart({ spec }: AgentCard): string {
  const { targetRef, identityBinding = {} } = spec;
  return sha256Hex(canonicalJson({ targetRef, identityBinding })).slice(0, 16);
}
