/** The machine's clock, which a test can put forward: timers that become due by that fire at once. */

import type { Clock } from '../../runtime/engine/clock.ts';

export interface MovableClock extends Clock {
  forward(ms: number): void;
}

export function movableClock(): MovableClock {
  let offsetMs = 0;
  const waiting = new Map<number, { readonly atMs: number; readonly fn: () => void; timer: NodeJS.Timeout }>();
  let serial = 0;
  const monotonicMs = (): number => performance.now() + offsetMs;
  const arm = (id: number, atMs: number, fn: () => void): NodeJS.Timeout =>
    setTimeout(
      () => {
        waiting.delete(id);
        fn();
      },
      Math.min(Math.max(0, atMs - monotonicMs()), 2 ** 31 - 1),
    );
  return {
    now: () => new Date(Date.now() + offsetMs),
    monotonicMs,
    after: (ms, fn) => {
      const id = (serial += 1);
      const atMs = monotonicMs() + ms;
      waiting.set(id, { atMs, fn, timer: arm(id, atMs, fn) });
      return () => {
        clearTimeout(waiting.get(id)?.timer);
        waiting.delete(id);
      };
    },
    forward: (ms) => {
      offsetMs += ms;
      for (const [id, entry] of waiting) {
        clearTimeout(entry.timer);
        entry.timer = arm(id, entry.atMs, entry.fn);
      }
    },
  };
}
