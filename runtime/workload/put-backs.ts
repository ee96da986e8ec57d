/** How often one thing is said over what somebody else writes there: at once at first, and with pauses once it is a fight. */

const windowMs = 60_000;
const atOnce = 10;
const pauseMs = 5_000;

export interface Statement {
  /** What is to be there, as text: another one is no putting back, and never waits. */
  readonly wanted: string;
  /** It is there already. */
  readonly isThere: boolean;
  /** Milliseconds of any clock. */
  readonly at: number;
}

export interface PutBacks {
  /** Milliseconds to wait before it is said once more; 0: it may be said now. Ten times a minute it may, then once in five seconds. */
  waitMs(uid: string, statement: Statement): number;
  forget(uid: string): void;
}

export function createPutBacks(): PutBacks {
  const said = new Map<string, { readonly wanted: string; readonly times: readonly number[] }>();
  return {
    waitMs: (uid, { wanted, isThere, at }) => {
      const before = said.get(uid);
      if (before?.wanted !== wanted) {
        said.set(uid, { wanted, times: isThere ? [] : [at] });
        return 0;
      }
      if (isThere) return 0;
      const times = before.times.filter((time) => time <= at && time > at - windowMs);
      const sinceMs = at - (times.at(-1) ?? -Infinity);
      if (times.length >= atOnce && sinceMs < pauseMs) return pauseMs - sinceMs;
      said.set(uid, { wanted, times: [...times, at] });
      return 0;
    },
    forget: (uid) => void said.delete(uid),
  };
}
