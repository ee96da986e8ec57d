/** An operator process that is started again whenever it ends, as a kubelet would. */

import type { OperatorBed, StartOptions } from './operator-bed.ts';
import type { OperatorProcess } from './operator-process.ts';

export interface Supervised {
  /** The process of now, or the one that has just ended. */
  readonly current: OperatorProcess;
  readonly starts: number;
  /** Ends it, and starts no other. */
  end(): Promise<void>;
}

/** Starts the first; each has the name with the number of its start. */
export async function supervise(bed: OperatorBed, name: string, options: StartOptions = {}): Promise<Supervised> {
  let isOver = false;
  let starts = 1;
  let current = await bed.start(`${name}-1`, options);
  const loop = (async () => {
    for (;;) {
      await current.exit;
      if (isOver) return;
      current = await bed.start(`${name}-${starts + 1}`, options);
      starts += 1;
    }
  })();
  return {
    get current() {
      return current;
    },
    get starts() {
      return starts;
    },
    end: async () => {
      isOver = true;
      await current.kill();
      await loop;
    },
  };
}
