// Starts, watches and ends the long-running programs of a cluster.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from './lab-error.ts';
import { isRunning, type ProcessIdentity, processIdentity, signalProcess } from './process-identity.ts';

/** A program to start. */
export interface ComponentCommand {
  readonly component: string;
  readonly program: string;
  readonly parameters: readonly string[];
  readonly logPath: string;
  readonly cwd: string;
  /** `parent`: the kernel kills it when the thread that started it ends, however that ends (Linux);
   * `itself`: it goes on after its starter. */
  readonly endsWith: 'parent' | 'itself';
}

/** A started program. */
export interface Component extends ProcessIdentity {
  readonly component: string;
  readonly logPath: string;
}

/** Starts a program with its output appended to its log. */
export function startComponent(command: ComponentCommand): Component {
  const { component, logPath } = command;
  mkdirSync(dirname(logPath), { recursive: true });
  const log = openSync(logPath, 'a');
  const [program, ...parameters] = tiedToParent(command);
  const child = spawn(program, parameters, {
    cwd: command.cwd,
    detached: command.endsWith === 'itself',
    stdio: ['ignore', log, log],
    // Most of a component's life is its start, a quarter of which would be garbage collection; it costs 80 MB of an API server's memory.
    env: { ...process.env, GOGC: '200' },
  });
  closeSync(log);
  // A program that cannot be started has no pid; the error is told below and the event must not crash the process.
  child.on('error', () => {});
  child.unref();
  const identity = child.pid === undefined ? undefined : processIdentity(child.pid);
  if (identity === undefined)
    throw new LabError(`${component} could not be started: ${program}\n${lastLines(logPath)}`);
  return { component, logPath, ...identity };
}

function tiedToParent({ program, parameters, endsWith }: ComponentCommand): readonly [string, ...string[]] {
  if (endsWith === 'itself' || process.platform !== 'linux') return [program, ...parameters];
  return ['setpriv', '--pdeathsig', 'KILL', '--', program, ...parameters];
}

/** Waits until `isReady` says so; throws with the component's last words when it ends first or takes too long. */
export async function untilReady(
  component: Component,
  isReady: () => Promise<boolean>,
  { timeoutMs, intervalMs = 50 }: { readonly timeoutMs: number; readonly intervalMs?: number },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isReady())) {
    if (!isRunning(component)) throw componentError(component, 'ended');
    if (performance.now() > deadline) throw componentError(component, `is not ready after ${timeoutMs / 1000} s`);
    await sleep(intervalMs);
  }
}

/** An error that names a component, its log and the log's last lines. */
export function componentError({ component, logPath }: Component, what: string): LabError {
  return new LabError(`${component} ${what}; its log is ${logPath} and ends with:\n${lastLines(logPath)}`);
}

function lastLines(logPath: string): string {
  if (!existsSync(logPath)) return '  (nothing)';
  const lines = readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-12);
  return lines.map((line) => `  ${line.slice(0, 400)}`).join('\n');
}

/** Ends processes all at once: SIGTERM, and SIGKILL for those that still run after `graceMs` (0: at once). */
export async function endProcesses(processes: readonly ProcessIdentity[], graceMs: number): Promise<void> {
  if (graceMs > 0) {
    for (const identity of processes) signalProcess(identity, 'SIGTERM');
    if (await haveEnded(processes, graceMs)) return;
  }
  for (const identity of processes) signalProcess(identity, 'SIGKILL');
  if (await haveEnded(processes, 10_000)) return;
  const left = processes.filter(isRunning).map(({ pid }) => pid);
  throw new LabError(`processes ${left.join(', ')} did not end within 10 s of SIGKILL`);
}

async function haveEnded(processes: readonly ProcessIdentity[], withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (processes.some(isRunning)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}
