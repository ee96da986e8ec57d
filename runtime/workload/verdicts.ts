/** The operator's own verdict on each card: what a network follows, whatever stands in a status and whoever wrote it. */

import type { AgentCard } from '../api/agent-card.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import { sha256Hex } from '../encoding/digest.ts';
import type { Source } from '../engine/types.ts';
import { keyOf } from './trigger.ts';

/** Reached in this process, under its present settings. */
export interface Verdict {
  readonly isVerified: boolean;
  /** Of condition Verified; where signatures are not verified, `NotRequired`. */
  readonly reason: string;
  /** `judgedPart` of the spec that it is about. */
  readonly about: string;
  /** When the certificate that it rests on ends, RFC 3339. */
  readonly expires?: string | undefined;
}

/** Shared by who reaches verdicts and who acts on them. */
export interface Verdicts {
  /** Undefined: none was reached yet. */
  of(card: AgentCard): Verdict | undefined;
  reach(card: AgentCard, verdict: Verdict): void;
  forget(card: AgentCard): void;
  /** Wakes a card's key when its verdict is another one. Stopped, everything is forgotten. */
  readonly source: Source;
}

/** `tell` is called with each verdict that is another than before. */
export function createVerdicts(tell: (card: AgentCard, verdict: Verdict) => void = () => {}): Verdicts {
  const known = new Map<string, Verdict>();
  let wake: Parameters<Source['start']>[0] = () => {};
  return {
    of: ({ metadata: { uid = '' } }) => known.get(uid),
    reach: (card, verdict) => {
      const { uid = '' } = card.metadata;
      const isSame = isSameVerdict(known.get(uid), verdict);
      known.set(uid, verdict);
      if (isSame) return;
      tell(card, verdict);
      wake(keyOf(card));
    },
    forget: ({ metadata: { uid = '' } }) => void known.delete(uid),
    source: {
      name: 'verdicts',
      start: (wakeKey) => {
        wake = wakeKey;
        return () => {
          wake = () => {};
          known.clear();
        };
      },
    },
  };
}

function isSameVerdict(old: Verdict | undefined, now: Verdict): boolean {
  return (
    old?.isVerified === now.isVerified &&
    old.reason === now.reason &&
    old.about === now.about &&
    old.expires === now.expires
  );
}

/** The part of a card's spec that a verdict is about, as a hash: how often it is fetched is none of it. */
export function judgedPart({ spec }: AgentCard): string {
  const { targetRef, identityBinding = {} } = (spec as Partial<AgentCard['spec']> | undefined) ?? {};
  return sha256Hex(canonicalJson({ targetRef, identityBinding })).slice(0, 16);
}
