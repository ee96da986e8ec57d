/** What the process says of itself: alive, able to serve, and which features are degraded, each with a sentence. */

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Says what is wrong, in one sentence for the administrator, or nothing. Must not wait; one that throws counts as failing. */
export type Check = () => string | undefined;

export interface HealthLine {
  readonly name: string;
  readonly ok: boolean;
  readonly reason?: string;
}

export interface HealthReport {
  readonly ok: boolean;
  readonly checks: readonly HealthLine[];
  /** Features that do not work at the moment; they never make `ok` false. */
  readonly degraded: readonly HealthLine[];
}

export interface Health {
  /** `healthz`: a failure asks for a restart, so only what a restart would mend belongs here. */
  alive(name: string, check: Check): () => void;
  /** `readyz`: a failure takes this replica out of its Service. */
  ready(name: string, check: Check): () => void;
  /** Listed by `readyz?verbose`, without failing it. */
  degraded(name: string, check: Check): () => void;
  healthz(): HealthReport;
  readyz(): HealthReport;
  /** Stops watching the event loop. */
  stop(): void;
}

export interface HealthOptions {
  /** Delay of the event loop, in milliseconds, from which `healthz` fails. Default 5,000. */
  readonly stallMs?: number;
  /** How long one measurement of that delay counts, in milliseconds. Default 10,000. */
  readonly windowMs?: number;
}

/**
 * Named checks; registering returns the removal. The event loop is watched from here on: a stall shows for at most two windows,
 * so that one long pause which is over does not outlast a probe's failure threshold.
 */
export function createHealth(options: HealthOptions = {}): Health {
  const { stallMs = 5_000, windowMs = 10_000 } = options;
  const checks = {
    alive: new Map<string, Check>(),
    ready: new Map<string, Check>(),
    degraded: new Map<string, Check>(),
  };
  const loop = watchEventLoop(windowMs);
  checks.alive.set('event-loop', () => {
    const delayMs = loop.worstMs();
    return delayMs > stallMs ? `the event loop stood still for ${Math.round(delayMs)} ms` : undefined;
  });
  return {
    alive: (name, check) => register(checks.alive, name, check),
    ready: (name, check) => register(checks.ready, name, check),
    degraded: (name, check) => register(checks.degraded, name, check),
    healthz: () => report(checks.alive, new Map()),
    readyz: () => report(checks.ready, checks.degraded),
    stop: loop.stop,
  };
}

function register(checks: Map<string, Check>, name: string, check: Check): () => void {
  if (checks.has(name)) throw new Error(`health check ${name} exists already`);
  checks.set(name, check);
  return () => {
    if (checks.get(name) === check) checks.delete(name);
  };
}

function report(checks: ReadonlyMap<string, Check>, degraded: ReadonlyMap<string, Check>): HealthReport {
  const lines = [...checks].map(line);
  return { ok: lines.every(({ ok }) => ok), checks: lines, degraded: [...degraded].map(line).filter(({ ok }) => !ok) };
}

function line([name, check]: readonly [string, Check]): HealthLine {
  try {
    const reason = check();
    return reason === undefined ? { name, ok: true } : { name, ok: false, reason };
  } catch (error) {
    return { name, ok: false, reason: error instanceof Error ? error.message : 'the check itself failed' };
  }
}

/** A report as an HTTP body: `ok`, or the failing checks a line each; JSON when `verbose`. */
export function renderHealth(health: HealthReport, verbose: boolean): string {
  if (verbose) return `${JSON.stringify(health)}\n`;
  if (health.ok) return 'ok\n';
  return health.checks
    .filter(({ ok }) => !ok)
    .map(({ name, reason = '' }) => `${name}: ${reason}\n`)
    .join('');
}

interface LoopWatch {
  /** The longest delay of this window and the last. */
  readonly worstMs: () => number;
  readonly stop: () => void;
}

const nsPerMs = 1e6;
/** Four wake-ups a second: fine enough for stalls of seconds, and nearly free in an idle process. */
const resolutionMs = 250;

function watchEventLoop(windowMs: number): LoopWatch {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  // What is measured is the time between two ticks, so one tick of it is no delay.
  const stallMs = (): number => Math.max(0, delays.max / nsPerMs - resolutionMs);
  let lastMs = 0;
  // Not in the timer itself: after a stall it may run before the measurement, and would throw that away.
  const turn = setInterval(() => {
    setImmediate(() => {
      lastMs = stallMs();
      delays.reset();
    });
  }, windowMs);
  turn.unref();
  return {
    worstMs: () => Math.max(lastMs, stallMs()),
    stop: () => {
      clearInterval(turn);
      delays.disable();
    },
  };
}
