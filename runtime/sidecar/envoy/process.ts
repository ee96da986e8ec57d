/** Supervises Envoy: starts it, says whether it serves, passes its lines on, drains it, and tells when and why it ended. */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Clock, pause } from '../../engine/clock.ts';
import { sentenceOf } from '../../engine/errors.ts';
import type { Log } from '../../engine/types.ts';
import type { AdminClient } from './admin/client.ts';
import type { JsonObject } from './names.ts';
import { logFormat, logLine } from './output.ts';

export interface EnvoyOptions {
  /** Path of the binary. */
  readonly binary: string;
  /** The bootstrap configuration; the sockets in it must be served already. */
  readonly bootstrap: JsonObject;
  /** Folder for `envoy.json`: the bootstrap as a file. */
  readonly folder: string;
  readonly admin: AdminClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Receives each line of the access log. Default: Envoy writes to our standard output itself. */
  readonly onAccess?: (line: string) => void;
}

export interface DrainOptions {
  /** Longest time for all of it, in milliseconds. Must leave a little of the pod's grace period. Default 25,000. */
  readonly budgetMs?: number;
}

export interface Envoy {
  readonly pid: number;
  /** Why it does not serve (yet), in one sentence; undefined when it does. Known by looking once a second. */
  readonly fault: string | undefined;
  /** Resolves with the reason when it has ended, whoever wanted it. */
  readonly ended: Promise<string>;
  /**
   * Lets what is under way finish: new requests are still taken for `drainSeconds`, with word to close their connections; then nothing new
   * arrives, and Envoy ends when nothing is left in either direction, or when the budget is spent.
   */
  drain(options?: DrainOptions): Promise<void>;
  /** Ends it at once. */
  kill(): Promise<void>;
}

/** Seconds in which a draining pod still takes what arrives: until all who call it know that it goes. */
const drainSeconds = 5;

/** One worker, no shared memory, and access log lines that are out within a second. */
const flags: readonly string[] = [
  ['--concurrency', '1'],
  ['--disable-hot-restart'],
  ['--drain-time-s', String(drainSeconds)],
  ['--drain-strategy', 'immediate'],
  ['--file-flush-interval-msec', '1000'],
  ['--log-level', 'warning'],
  // It warns of each request it could not ask about; the access log has those, with the reason.
  ['--component-log-level', 'ext_proc:error'],
  ['--log-format-escaped'],
  ['--log-format', logFormat],
].flat();

/** Starts Envoy. That the binary cannot be run is told by `ended`, like any other end. */
export function startEnvoy(options: EnvoyOptions): Envoy {
  const { binary, bootstrap, folder, admin, clock, log } = options;
  const file = path.join(folder, 'envoy.json');
  writeFileSync(file, JSON.stringify(bootstrap), { mode: 0o600 });
  const child = spawn(binary, ['-c', file, ...flags], {
    stdio: ['ignore', options.onAccess === undefined ? 'inherit' : 'pipe', 'pipe'],
    env: {},
  });
  follow(child, options);
  const over = new AbortController();
  const ended = endOf(child).finally(() => over.abort());
  let fault: string | undefined = 'Envoy is starting';
  void watch();

  async function watch(): Promise<void> {
    const begunMs = clock.monotonicMs();
    let isTold = false;
    while (!over.signal.aborted) {
      fault = await look(admin);
      if (fault === undefined && !isTold) {
        isTold = true;
        log.info('Envoy serves', { afterMs: Math.round(clock.monotonicMs() - begunMs) });
      }
      await pause(clock, fault === undefined ? settledMs : startingMs, over.signal);
    }
    fault = 'Envoy has ended';
  }

  async function drain({ budgetMs = 25_000 }: DrainOptions = {}): Promise<void> {
    const budget = AbortSignal.any([over.signal, AbortSignal.timeout(budgetMs)]);
    for (const path of ['/healthcheck/fail', '/drain_listeners?graceful&inboundonly']) {
      await admin.post(path).catch((error: unknown) => {
        log.warn('Envoy did not take a step of its drain', { path, error: sentenceOf(error) });
      });
    }
    await pause(clock, drainSeconds * 1000, budget);
    // An Envoy that does not say is busy: with what, it may say next time.
    while (!budget.aborted && (await isBusy(admin).catch(() => true))) await pause(clock, busyMs, budget);
    await kill();
  }

  async function kill(): Promise<void> {
    child.kill('SIGTERM');
    const late = clock.after(lateMs, () => child.kill('SIGKILL'));
    await ended;
    late();
  }

  return {
    pid: child.pid ?? 0,
    get fault() {
      return fault;
    },
    ended,
    drain,
    kill,
  };
}

const startingMs = 50;
const settledMs = 1_000;
const busyMs = 200;
const lateMs = 3_000;

/** Why Envoy does not serve, or undefined. Its own `/ready` does not count listeners that came later and wait for a certificate. */
async function look(admin: AdminClient): Promise<string | undefined> {
  try {
    const { status, body } = await admin.get('/ready');
    if (status !== 200) return `Envoy is ${body.trim().toLowerCase().replaceAll('_', ' ')}`;
    const stats = await admin.stats('^listener_manager\\.total_listeners_(warming|active)$');
    const warming = stats.get('listener_manager.total_listeners_warming') ?? 0;
    if (warming > 0) return `listeners of Envoy that wait for what they need, such as a certificate: ${warming}`;
    if ((stats.get('listener_manager.total_listeners_active') ?? 0) === 0) return 'Envoy has no listener';
    return undefined;
  } catch (error) {
    return `Envoy does not answer: ${sentenceOf(error)}`;
  }
}

/** Requests that arrived, and connections of any kind that the application has open through us: when it has ended, it has none. */
async function isBusy(admin: AdminClient): Promise<boolean> {
  const stats = await admin.stats('^(http\\.inbound\\.downstream_rq|listener\\.outbound\\.downstream_cx)_active$');
  return [...stats.values()].some((count) => count > 0);
}

/** Envoy's own log becomes ours; its access log is JSON and stays as it is. */
function follow({ stdout, stderr }: ChildProcess, { log, onAccess }: EnvoyOptions): void {
  if (stdout !== null && onAccess !== undefined) createInterface({ input: stdout }).on('line', onAccess);
  if (stderr === null) return;
  createInterface({ input: stderr }).on('line', (text) => {
    const { level, component, message } = logLine(text);
    log[level](`envoy: ${message}`, { component });
  });
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`Envoy could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `Envoy ended with exit code ${code}` : `Envoy was ended by ${signal}`),
    );
  });
}
