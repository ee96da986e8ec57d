/** Received bytes → the document that is stored, and whether a signature of it is good: pure, and the only caller of the verifier. */

import type { AgentSummary } from '../api/agent-card.ts';
import { agentSummary } from '../api/a2a-card.ts';
import type { SignatureReason } from '../api/conditions.ts';
import type { JsonObject } from '../encoding/strict-json.ts';
import { readCard } from '../signature/document.ts';
import { cardHash, type Verification, verifyCard, type VerifyOptions } from '../signature/verify.ts';

/** What is stored of a card. */
export interface Document {
  /** Exactly what the signature covers, where one is good; else as served. Undefined: too large to be stored. */
  readonly card: JsonObject | undefined;
  readonly cardHash: string;
  readonly agent: AgentSummary;
}

export type Assessment =
  | { readonly kind: 'read'; readonly document: Document; readonly verification: Verification | undefined }
  | {
      readonly kind: 'refused';
      /** Reason of condition Synced. */
      readonly reason: 'NotJSON' | 'NotACard';
      readonly signatureReason: SignatureReason;
      readonly detail: string;
    };

/** By which rules a signature is judged. */
export type Rules = Omit<VerifyOptions, 'now'>;

/** A larger card than this is not stored: an object of the API server is limited to 1.5 MiB, and status is read often. */
export const maxStoredBytes = 256 * 1024;

/** `rules` undefined: nothing is verified. Never throws, whatever the bytes are. */
export function assess(body: Uint8Array, rules: Rules | undefined, now: Date): Assessment {
  const read = readCard(body);
  if ('refused' in read) {
    const reason = read.refused === 'not-json' ? 'NotJSON' : 'NotACard';
    return { kind: 'refused', reason, signatureReason: read.reason, detail: read.detail };
  }
  const verification = rules === undefined ? undefined : verifyCard(read.card, { ...rules, now });
  // What was not signed goes nowhere: whoever stands between agent and operator could have added it (SG-03).
  const card = verification?.isValid === true ? verification.card : read.card;
  return { kind: 'read', document: documentOf(card), verification };
}

function documentOf(card: JsonObject): Document {
  const isTooLarge = Buffer.byteLength(JSON.stringify(card)) > maxStoredBytes;
  return { card: isTooLarge ? undefined : card, cardHash: cardHash(card), agent: agentSummary(card) };
}
