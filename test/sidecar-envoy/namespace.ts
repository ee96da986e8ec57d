/** A network namespace like a pod's, linked to this one by a pair of interfaces: all of it goes when its keeper does. */

import { type ChildProcess, execFile, execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

export interface Namespace {
  /** The pod's addresses. */
  readonly ip: string;
  readonly ip6: string;
  /** Ours, on the same link: the world outside. */
  readonly gateway: string;
  readonly gateway6: string;
  /** The command that runs a program inside, as that user. */
  command(uid: number, program: string, parameters: readonly string[]): readonly string[];
  /** Starts a program inside. */
  start(uid: number, program: string, parameters: readonly string[], stdio: StdioOptions): ChildProcess;
  /** Runs a program inside as root, with that input. */
  run(program: string, parameters: readonly string[], input?: string): void;
  /** What a program prints that runs inside as an ordinary user, with these variables besides ours; 20 seconds at most. Rejects with what it complains of. */
  read(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string>;
  end(): Promise<void>;
}

/** Files may be in folders that only root may enter: the programs inside may still read them. */
const read = ['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search'];

/** Throws when this is not root; else a program that is missing (iptables, iproute2, util-linux) is named by its own error. */
export async function createNamespace(): Promise<Namespace> {
  if (process.getuid?.() !== 0) throw new Error('network namespaces are made by root: run this test as root');
  const keeper = spawn('unshare', ['--net', '--kill-child', 'sh', '-c', 'echo ready; exec sleep 3600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(keeper.stdout, 'data');
  const pid = keeper.pid ?? 0;
  const inside = ['--target', String(pid), '--net'];
  const run = (program: string, parameters: readonly string[], input = ''): void => {
    execFileSync('nsenter', [...inside, program, ...parameters], { input, stdio: ['pipe', 'ignore', 'inherit'] });
  };
  const third = pid & 0xff;
  const second = 128 + ((pid >> 8) & 0x7f);
  const network = `10.${second}.${third}`;
  const network6 = `fd10:${second.toString(16)}:${third.toString(16)}::`;
  const ours = `rso${pid}`;
  execFileSync('ip', ['link', 'add', ours, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]);
  execFileSync('ip', ['address', 'add', `${network}.1/24`, 'dev', ours]);
  execFileSync('ip', ['address', 'add', `${network6}1/64`, 'dev', ours, 'nodad']);
  execFileSync('ip', ['link', 'set', ours, 'up']);
  run('ip', ['link', 'set', 'lo', 'up']);
  run('ip', ['address', 'add', `${network}.2/24`, 'dev', 'eth0']);
  run('ip', ['address', 'add', `${network6}2/64`, 'dev', 'eth0', 'nodad']);
  run('ip', ['link', 'set', 'eth0', 'up']);
  run('ip', ['route', 'add', 'default', 'via', `${network}.1`]);
  const command = (uid: number, program: string, parameters: readonly string[]) =>
    ['nsenter', inside, 'setpriv', '--reuid', String(uid), '--clear-groups', read, program, parameters].flat();
  return {
    ip: `${network}.2`,
    ip6: `${network6}2`,
    gateway: `${network}.1`,
    gateway6: `${network6}1`,
    command,
    start: (uid, program, parameters, stdio) => {
      const [first = '', ...rest] = command(uid, program, parameters);
      return spawn(first, rest, { stdio });
    },
    run,
    read: async ([program = '', ...parameters], env) => {
      const [first = '', ...rest] = command(1000, program, parameters);
      const options = { env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', ...env }, timeout: 20_000 };
      return (await promisify(execFile)(first, rest, options)).stdout;
    },
    end: async () => {
      if (keeper.exitCode !== null || keeper.signalCode !== null) return;
      keeper.kill('SIGKILL');
      await once(keeper, 'exit');
    },
  };
}
