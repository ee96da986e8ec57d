/** A pod's network namespace and a neighbour's, joined by a veth pair, with programs that answer in each; the host's network is never touched. */

import { type ChildProcess, spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { ensureNodePackages } from '../lab/node/packages.ts';
import { reportToStderr } from '../lab/progress.ts';
import { canRunNode } from '../lab/up.ts';

export const addresses = {
  pod: '10.88.0.2',
  neighbour: '10.88.0.1',
  /** Somewhere beyond the neighbour, as a Service or the world is. */
  outside: '10.99.0.1',
  /** From where probes come in Istio's ambient mode; here the neighbour has taken it. */
  probe: '169.254.7.127',
  /** A metadata server. */
  metadata: '169.254.169.254',
  pod6: 'fd88::2',
  neighbour6: 'fd88::1',
  outside6: 'fd99::1',
  podLink6: 'fe80::2',
} as const;

export type Place = 'pod' | 'neighbour';

/** Something that answers with its name and the port; `original`: with where the caller dialled. */
export interface Answering {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly udp?: boolean;
  readonly original?: boolean;
}

/** One connection; the answer is what the other side says, or `refused`, `timeout`, `closed`. */
export interface Dial {
  readonly to: readonly [host: string, port: number];
  readonly uid?: number;
  /** Default: TCP. */
  readonly over?: 'udp' | 'sctp';
  readonly mark?: number;
  readonly source?: string;
}

export interface PodNetwork {
  /** Runs a program in a place, to its end. */
  readonly run: (
    place: Place,
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => SpawnSyncReturns<string>;
  readonly answer: (place: Place, rows: readonly Answering[]) => Promise<void>;
  readonly dial: (place: Place, rows: readonly Dial[]) => readonly string[];
}

/** Why these tests cannot run here; false when they can. What a node is made of is installed first, where that can be. */
export async function cannotCapture(): Promise<false | string> {
  if (canRunNode()) await ensureNodePackages(reportToStderr);
  const probe = spawnSync('unshare', [
    '--net',
    'sh',
    '-c',
    'iptables-nft-save && nsenter --version && python3 -V && ip -V',
  ]);
  return probe.status === 0
    ? false
    : 'capturing needs root on Linux with unshare, nsenter, iptables, iproute2 and python3';
}

const traffic = path.join(import.meta.dirname, 'traffic.py');

/** Opens both namespaces; they end with the test, and with this process however it ends. `ipv6: false`: the pod has none. */
export async function openPodNetwork(t: TestContext, options: { readonly ipv6?: boolean } = {}): Promise<PodNetwork> {
  const children: ChildProcess[] = [];
  const directory = mkdtempSync(path.join(tmpdir(), 'rossoctl-capture-'));
  t.after(async () => {
    await Promise.all(children.map(ended));
    rmSync(directory, { recursive: true, force: true });
  });
  // Each waits on a pipe of ours, so it ends when this process does.
  const start = async (command: readonly string[]) => {
    const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    await once(child.stdout, 'data');
    return child;
  };
  const hold = async () => start(['unshare', '--net', 'sh', '-c', 'echo ready; exec cat']);
  const holders = { pod: await hold(), neighbour: await hold() };
  const enter = (place: Place) => ['nsenter', `--net=/proc/${holders[place].pid}/ns/net`];
  const run: PodNetwork['run'] = (place, command, env = {}) => {
    const [program = '', ...args] = [...enter(place), ...command];
    const own = { XTABLES_LOCKFILE: path.join(directory, 'xtables.lock') };
    return spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, ...own, ...env } });
  };
  const script = wiring(holders.neighbour.pid ?? 0, options.ipv6 ?? true);
  for (const place of ['pod', 'neighbour'] as const) must(run(place, ['sh', '-ec', script[place]]));
  return {
    run,
    answer: async (place, rows) =>
      void (await start([...enter(place), 'python3', traffic, 'listen', JSON.stringify(rows)])),
    dial: (place, rows) =>
      JSON.parse(must(run(place, ['python3', traffic, 'dial', JSON.stringify(rows)])).stdout) as readonly string[],
  };
}

function must(result: SpawnSyncReturns<string>): SpawnSyncReturns<string> {
  if (result.status !== 0) throw new Error(`exit ${result.status}: ${result.stderr}`);
  return result;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function wiring(neighbourPid: number, ipv6: boolean): Readonly<Record<Place, string>> {
  const { pod, neighbour, outside, probe, metadata, pod6, neighbour6, outside6, podLink6 } = addresses;
  const pod6Commands = `
    ip address add ${pod6}/64 dev eth0 nodad
    ip address add ${podLink6}/64 dev eth0 nodad
    ip -6 route add default via ${neighbour6}`;
  const none6 = 'sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1';
  return {
    pod: `
      ${ipv6 ? '' : none6}
      ip link add eth0 type veth peer name eth0 netns ${neighbourPid}
      ip link set lo up
      ip link set eth0 up
      ip address add ${pod}/24 dev eth0
      ip route add default via ${neighbour}
      ${ipv6 ? pod6Commands : ''}`,
    neighbour: `
      ip link set lo up
      ip link set eth0 up
      ip address add ${neighbour}/24 dev eth0
      ip address add ${outside}/32 dev lo
      ip address add ${metadata}/32 dev lo
      ip address add ${probe}/32 dev lo
      ip address add ${neighbour6}/64 dev eth0 nodad
      ip address add ${outside6}/128 dev lo`,
  };
}
