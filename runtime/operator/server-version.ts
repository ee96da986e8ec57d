/** The API server's version, asked until it answers: whether pods can have native sidecars depends on it. */

import { type Clock, pause } from '../engine/clock.ts';
import type { Transport } from '../engine/transport.ts';
import type { Log } from '../engine/types.ts';

export interface ServerVersion {
  /** Kubernetes 1.29 and later run init containers with `restartPolicy: Always` beside the others. True until the server has answered. */
  readonly nativeSidecars: boolean;
  /** `1.34`, or undefined until the server has answered. */
  readonly text: string | undefined;
  stop(): void;
}

const firstWithNativeSidecars = 29;
const retryMs = 2_000;

function parsed(answer: unknown): { readonly text: string; readonly minor: number } | undefined {
  const { major, minor } = (answer ?? {}) as { readonly major?: unknown; readonly minor?: unknown };
  const number = Number.parseInt(String(minor), 10);
  return Number.isInteger(number) ? { text: `${String(major)}.${number}`, minor: number } : undefined;
}

/** Starts asking; never throws. */
export function watchServerVersion(transport: Transport, clock: Clock, log: Log): ServerVersion {
  const stopping = new AbortController();
  let known: ReturnType<typeof parsed>;
  async function ask(): Promise<void> {
    while (!stopping.signal.aborted && known === undefined) {
      try {
        known = parsed(await transport.request({ method: 'GET', path: '/version', signal: stopping.signal }));
      } catch (error) {
        log.warn('the API server does not tell its version', { error });
      }
      if (known === undefined) await pause(clock, retryMs, stopping.signal);
    }
  }
  void ask();
  return {
    get nativeSidecars() {
      return known === undefined || known.minor >= firstWithNativeSidecars;
    },
    get text() {
      return known?.text;
    },
    stop: () => stopping.abort(),
  };
}
