/** Why something about a signature is refused: a reason for machines, a sentence for people. */

import type { SignatureReason } from '../api/conditions.ts';

export interface Refusal {
  readonly reason: SignatureReason;
  /** At most 1,000 characters, without control characters: it ends in conditions, logs and terminals. */
  readonly detail: string;
}

/** Foreign text in `detail` is cut and loses its control characters. */
export function refusal(reason: SignatureReason, detail: string): Refusal {
  return { reason, detail: plain(detail, 1000) };
}

export function isRefusal(value: object): value is Refusal {
  return 'reason' in value && 'detail' in value;
}

/** Foreign text on one line, moving no cursor, cut after `most` UTF-16 units. */
export function plain(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return cut.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}
