/** A reason that others worded, possibly quoting a card, as a sentence of a condition. */

import { plainText } from '../encoding/plain-text.ts';

/** One line of at most 1,000 characters, with a capital letter and a full stop. */
export function sentence(text: string): string {
  const plain = plainText(text, 999);
  const [first = ''] = plain;
  // A URL or a header's name stays as it is written.
  const begun = /^[a-z]+[ ,]/.test(plain) ? `${first.toUpperCase()}${plain.slice(1)}` : plain;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
