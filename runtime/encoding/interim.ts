/** Ends a conversation whose server sends interim answers (1xx, RFC 9110 section 15.2) without end: each is free for it, and none is what was asked for. */

/** What an honest server sends: a hint or two before the answer. */
const most = 8;

export class InterimOverflow extends Error {
  readonly code = 'INTERIM_OVERFLOW';
  constructor() {
    super(`more than ${most} interim answers`);
  }
}

/** To be called for each interim answer of one conversation; `end` is called once they are too many. */
export function interimGuard(end: (error: InterimOverflow) => void): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count === most + 1) end(new InterimOverflow());
  };
}
