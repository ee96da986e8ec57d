/** Keeps a flood of calls from a server that does not work: after a failure only one call at a time finds out whether it works again. */

export interface Circuit {
  /** Milliseconds until it is worth asking; 0: ask now, and tell how it went. Whoever is told 0 after a failure asks for all. */
  waitMs(server: string, nowMs: number): number;
  succeeded(server: string): void;
  /** `atLeastMs`: what the server itself asked for. */
  failed(server: string, nowMs: number, atLeastMs?: number): void;
}

export interface CircuitOptions {
  /** After the first failure; doubles with each. Default 1,000. */
  readonly baseMs?: number;
  /** Default 15,000. */
  readonly capMs?: number;
  /** How long the one call that tries may take. Default 8,000. */
  readonly trialMs?: number;
}

interface State {
  readonly failures: number;
  readonly openUntilMs: number;
}

/** One state a server that fails; servers that work are not remembered. */
export function createCircuit({ baseMs = 1_000, capMs = 15_000, trialMs = 8_000 }: CircuitOptions = {}): Circuit {
  const states = new Map<string, State>();
  return {
    waitMs: (server, nowMs) => {
      const state = states.get(server);
      if (state === undefined) return 0;
      if (nowMs < state.openUntilMs) return state.openUntilMs - nowMs;
      states.set(server, { ...state, openUntilMs: nowMs + trialMs });
      return 0;
    },
    succeeded: (server) => void states.delete(server),
    failed: (server, nowMs, atLeastMs = 0) => {
      const failures = states.get(server)?.failures ?? 0;
      const pauseMs = Math.min(Math.max(baseMs * 2 ** Math.min(failures, 20), atLeastMs), Math.max(capMs, baseMs));
      states.set(server, { failures: failures + 1, openUntilMs: nowMs + pauseMs });
    },
  };
}
