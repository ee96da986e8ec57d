/** A signal that ends with the caller's or after a time, whichever comes first. */

import type { Clock } from './clock.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** The time, not the caller, ended it. */
  readonly isOver: boolean;
  /** From here on only the caller ends it. */
  disarm(): void;
  /** Lets go of the timer and of the caller's signal. */
  end(): void;
}

export function createDeadline(clock: Clock, outer: AbortSignal | undefined, ms: number): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const cancel = clock.after(ms, () => {
    isOver = true;
    controller.abort(new Error(`not finished within ${Math.round(ms)} ms`));
  });
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    disarm: cancel,
    end: () => {
      cancel();
      outer?.removeEventListener('abort', follow);
    },
  };
}
