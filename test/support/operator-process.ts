/** The operator as a child process: started with free ports, its log lines collected, asked for its health, and ended in any way. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '../lab/ports.ts';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'runtime/operator/main.ts');

/** One line of the operator's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface HealthLine {
  readonly name: string;
  readonly ok: boolean;
  readonly reason?: string;
}

/** What `/readyz?verbose` says. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: readonly HealthLine[];
  readonly degraded: readonly HealthLine[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface OperatorProcess {
  /** Its `--pod-name`: in the audit log the user agent is `rossoctl-operator/<name>`. */
  readonly name: string;
  readonly webhookPort: number;
  readonly healthPort: number;
  /** Its log so far; lines that are no JSON have `level` "text". */
  readonly lines: readonly LogLine[];
  readonly stderr: string;
  readonly isRunning: boolean;
  readonly exit: Promise<Exit>;
  /** Undefined while nothing answers. */
  readiness(): Promise<Readiness | undefined>;
  /** The value of one series of `/metrics`, given as it is written there. */
  metric(series: string): Promise<number | undefined>;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<Exit>;
  /** SIGTERM; resolves when it is gone, and kills it after a while. */
  stop(withinMs?: number): Promise<Exit>;
}

export interface OperatorProcessOptions {
  readonly name: string;
  /** `flag → value`. Ports are free ones unless given here. */
  readonly flags?: Readonly<Record<string, string | number>>;
  /** Besides PATH, HOME and Node's cache; nothing else of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts one; resolves as soon as the process exists. It ends with this process at the latest. */
export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const webhookPort = Number(options.flags?.['webhook-port'] ?? (await findFreePort()));
  const healthPort = Number(options.flags?.['health-port'] ?? (await findFreePort()));
  const flags: Record<string, string | number> = {
    'pod-name': options.name,
    'webhook-port': webhookPort,
    'health-port': healthPort,
    'metrics-port': healthPort,
    'drain-seconds': 0,
    ...options.flags,
  };
  const child = spawnTied([program, ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)], options);
  running.add(child);
  const exit = once(child, 'close').then((end): Exit => {
    running.delete(child);
    return { code: end[0] as number | null, signal: end[1] as NodeJS.Signals | null };
  });
  const lines = linesOf(child);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ask = (url: string) => answerOf(`http://127.0.0.1:${healthPort}${url}`);
  const kill = (): Promise<Exit> => {
    child.kill('SIGKILL');
    return exit;
  };
  return {
    name: options.name,
    webhookPort,
    healthPort,
    lines,
    get stderr() {
      return stderr;
    },
    get isRunning() {
      return running.has(child);
    },
    exit,
    readiness: async () => {
      const text = await ask('/readyz?verbose');
      return text === undefined ? undefined : (JSON.parse(text) as Readiness);
    },
    metric: async (series) => {
      const line = (await ask('/metrics'))?.split('\n').find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    signal: (signal) => void child.kill(signal),
    kill,
    stop: async (withinMs = 20_000) => {
      child.kill('SIGTERM');
      child.kill('SIGCONT');
      const timer = setTimeout(() => void kill(), withinMs);
      return exit.finally(() => clearTimeout(timer));
    },
  };
}

/** Runs the operator to its end, for starts that are refused. */
export async function runOperator(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Exit & { readonly out: string; readonly err: string }> {
  const child = spawnTied([program, ...argv], { name: 'run', env });
  running.add(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  running.delete(child);
  return { code, signal, out, err };
}

/** On Linux the kernel kills it when this process ends, however that ends. */
function spawnTied(parameters: readonly string[], { env }: OperatorProcessOptions): ChildProcess {
  const tie = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];
  const [command = '', ...rest] = [...tie, process.execPath, ...parameters];
  // What Node has compiled once for one of the test processes: starts take half the time.
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return spawn(command, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
  });
}

function linesOf(child: ChildProcess): readonly LogLine[] {
  const lines: LogLine[] = [];
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (text) => {
      try {
        lines.push(JSON.parse(text) as LogLine);
      } catch {
        lines.push({ level: 'text', msg: text });
      }
    });
  }
  return lines;
}

/** The body, whatever the status; undefined when nobody answers within two seconds. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000), headers: { connection: 'close' } });
    return await response.text();
  } catch {
    return undefined;
  }
}
