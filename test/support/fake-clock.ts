/** A clock that stands still until it is told to go on. */

import type { Clock } from '../../runtime/engine/clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass; timers that become due fire in order, and what they await gets a turn. */
  advance(ms: number): Promise<void>;
  /** Time passes and no timer fires, as in a stalled event loop. */
  stall(ms: number): void;
  /** Sets the wall clock alone. */
  jump(ms: number): void;
  readonly timers: number;
}

export function fakeClock(start = new Date('2026-01-02T03:04:05.678Z')): FakeClock {
  let nowMs = 0;
  let offsetMs = start.getTime();
  let serial = 0;
  const timers = new Map<number, { readonly at: number; readonly fn: () => void }>();
  const turn = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
  };
  return {
    now: () => new Date(offsetMs + nowMs),
    monotonicMs: () => nowMs,
    after: (ms, fn) => {
      const id = (serial += 1);
      timers.set(id, { at: nowMs + Math.max(0, ms), fn });
      return () => void timers.delete(id);
    },
    advance: async (ms) => {
      const end = nowMs + ms;
      await turn();
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
        if (due === undefined) break;
        const [id, { at, fn }] = due;
        timers.delete(id);
        nowMs = Math.max(nowMs, at);
        fn();
        await turn();
      }
      nowMs = end;
      await turn();
    },
    stall: (ms) => void (nowMs += ms),
    jump: (ms) => void (offsetMs += ms),
    get timers() {
      return timers.size;
    },
  };
}
