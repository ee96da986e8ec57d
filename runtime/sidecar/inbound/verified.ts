/** Remembers which tokens were verified, so that a call with a token seen before costs a digest instead of a signature. */

import { sha256Hex } from '../../encoding/digest.ts';
import { createLru } from '../../signature/lru.ts';

export interface Verified {
  /** Whether this token was verified in this generation, of keys and client id, and is still good at `nowMs` (wall clock). */
  has(token: string, generation: string, nowMs: number): boolean;
  add(token: string, generation: string, untilMs: number): void;
}

/** Tokens: each costs about 200 bytes, and what is kept is their digest alone. */
const mostTokens = 10_000;

/** What was used longest ago goes first; refused tokens are not kept, or whoever sends many of them would push the good ones out. */
export function createVerified(most = mostTokens): Verified {
  const entries = createLru<number>(most);
  let current = '';
  return {
    has: (token, generation, nowMs) => {
      if (generation !== current) entries.clear();
      current = generation;
      return (entries.get(sha256Hex(token)) ?? 0) > nowMs;
    },
    // A verdict of before, which took its time, is not worth keeping.
    add: (token, generation, untilMs) => {
      if (generation === current) entries.set(sha256Hex(token), untilMs, 1);
    },
  };
}
