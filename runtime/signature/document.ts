/** The bytes an agent served → its card, or why they are none. */

import type { SignatureReason } from '../api/conditions.ts';
import { isJsonObject, type JsonFault, type JsonObject, parseStrictJson } from '../encoding/strict-json.ts';
import { plain } from './refusal.ts';

/** What a card may be at most: 1 MiB, 64 levels. */
export const cardLimits = Object.freeze({ bytes: 1024 * 1024, depth: 64 });

export type ReadCard =
  | {
      readonly card: JsonObject;
      /** It was taken out of an envelope. */
      readonly isEnveloped: boolean;
    }
  | {
      /** `not-json`: no JSON text in UTF-8, so perhaps no card was meant; `not-a-card`: JSON that no card may be. */
      readonly refused: 'not-json' | 'not-a-card';
      readonly reason: SignatureReason;
      /** A sentence without a full stop, bounded, without control characters. */
      readonly detail: string;
    };

const faults: Readonly<
  Record<JsonFault['kind'], readonly [refused: 'not-json' | 'not-a-card', reason: SignatureReason]>
> = {
  encoding: ['not-json', 'malformed-json'],
  syntax: ['not-json', 'malformed-json'],
  value: ['not-a-card', 'malformed-json'],
  duplicate: ['not-a-card', 'duplicate-member'],
  limit: ['not-a-card', 'limit-exceeded'],
};

/**
 * Reads a card of any A2A version: any JSON object within `cardLimits` that means the same to every parser. A byte order mark before it is
 * passed over. The envelope of sigstore-a2a is taken off, where it holds nothing else. Never throws.
 */
export function readCard(body: Uint8Array): ReadCard {
  const parsed = parseStrictJson(withoutMark(body), cardLimits);
  if ('fault' in parsed) {
    const { kind, message } = parsed.fault;
    const [refused, reason] = faults[kind];
    return { refused, reason, detail: plain(message, 1000) };
  }
  if (isJsonObject(parsed.value)) {
    const card = unwrapped(parsed.value);
    return { card, isEnveloped: card !== parsed.value };
  }
  return { refused: 'not-a-card', reason: 'malformed-json', detail: 'it is JSON, but no object' };
}

function withoutMark(body: Uint8Array): Uint8Array {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/**
 * `{agentCard, attestations | verificationMaterial}` and nothing else: a reader that knows no envelope must not find a card in it that nobody
 * has signed. A card with a member that happens to be called `agentCard` is none.
 */
function unwrapped(value: JsonObject): JsonObject {
  const { agentCard } = value;
  return isEnvelope(value) && isJsonObject(agentCard) ? agentCard : value;
}

function isEnvelope(value: JsonObject): boolean {
  const others = Object.keys(value).filter((name) => name !== 'agentCard');
  return others.length > 0 && others.every((name) => name === 'attestations' || name === 'verificationMaterial');
}
