/** The operator as a process of its own, from the bundle, with the account its manifests give it; when it began to answer. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import path from 'node:path';
import { install as names } from '../../runtime/api/names.ts';
import { type Component, componentError, endProcesses, startComponent, untilReady } from '../lab/component.ts';
import { ends } from './cleanup.ts';
import { type Usage, usageOf } from './process-usage.ts';

export interface OperatorPlace {
  /** Of the control plane: logs and credentials go here. */
  readonly dir: string;
  readonly bundle: string;
  readonly server: string;
  readonly caPath: string;
  readonly token: string;
  readonly ports: { readonly webhook: number; readonly health: number; readonly metrics: number };
  /** Arguments of Node before the program. */
  readonly nodeFlags?: readonly string[];
  /** Further flags of the operator, without their dashes. */
  readonly flags?: Readonly<Record<string, string | number>>;
}

export interface OperatorProcess {
  readonly pid: number;
  /** Wall clock, milliseconds. */
  readonly startedAt: number;
  /** Seconds from start until `/readyz` says yes. */
  untilReady(): Promise<number>;
  /** Seconds from start until the log says this message. */
  untilLogged(message: string): Promise<number>;
  usage(): Usage;
  /** One series of `/metrics`, summed over its labels. */
  metric(name: string): Promise<number>;
  /** SIGTERM; resolves to the seconds it took. */
  stop(): Promise<number>;
}

/** As the image starts it in a container of the default limit, 256Mi. */
export const imageFlags = ['--max-semi-space-size=2', '--max-old-space-size=160'] as const;

/** Whether this user may have a mount namespace: then the operator finds its account where a pod has it. */
export const hasMountNamespace = canUnshare();

let started = 0;

export function startOperatorProcess(place: OperatorPlace): OperatorProcess {
  const { dir, ports } = place;
  started += 1;
  const logPath = path.join(dir, 'log', `operator-${started}.log`);
  const { hostname, port } = new URL(place.server);
  const flags = [
    '--pod-name=bench',
    '--webhook-host=127.0.0.1',
    `--webhook-port=${ports.webhook}`,
    `--health-port=${ports.health}`,
    `--metrics-port=${ports.metrics}`,
    '--drain-seconds=0',
    `--api-server-host=${hostname}`,
    `--api-server-port=${port}`,
    `--kubeconfig=${hasMountNamespace ? '' : writeKubeconfig(place)}`,
    ...Object.entries(place.flags ?? {}).map(([flag, value]) => `--${flag}=${value}`),
  ];
  const node = [process.execPath, ...(place.nodeFlags ?? imageFlags), place.bundle, ...flags];
  const command = hasMountNamespace ? inPodLikeMounts(writeAccount(place), node) : node;
  const [program = '', ...parameters] = command;
  const begun = performance.now();
  const startedAt = Date.now();
  const component = startComponent({
    component: 'operator',
    program,
    parameters,
    logPath,
    cwd: dir,
    endsWith: 'parent',
  });
  const seconds = (): number => (performance.now() - begun) / 1000;
  const end = ends(() => endProcesses([component], 15_000));
  const until = async (isReady: () => Promise<boolean>): Promise<number> => {
    await untilReady(component, isReady, { timeoutMs: 120_000, intervalMs: 5 });
    return seconds();
  };
  return {
    pid: component.pid,
    startedAt,
    untilReady: () => until(async () => (await httpGet(ports.health, '/readyz')).status === 200),
    untilLogged: (message) => until(() => Promise.resolve(readLog(logPath).includes(`"msg":"${message}"`))),
    usage: () => used(component),
    metric: async (name) => metricOf((await httpGet(ports.metrics, '/metrics')).body, name),
    stop: async () => {
      const asked = performance.now();
      await end();
      return (performance.now() - asked) / 1000;
    },
  };
}

function readLog(logPath: string): string {
  return readFileSync(logPath, 'utf8');
}

function used(component: Component): Usage {
  try {
    return usageOf(component.pid);
  } catch {
    throw componentError(component, 'ended');
  }
}

const accountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The files of the account are mounted where the kubelet would put them, for this process alone. */
function inPodLikeMounts(source: string, command: readonly string[]): readonly string[] {
  const script = `mount -t tmpfs tmpfs /run && mkdir -p ${accountDir} && mount --bind "$0" ${accountDir} && exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, source, ...command];
}

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--mount', '--propagation', 'private', 'mount', '-t', 'tmpfs', 'tmpfs', '/run'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

function writeAccount({ dir, caPath, token }: OperatorPlace): string {
  const folder = path.join(dir, 'operator-account');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'token'), token);
  writeFileSync(path.join(folder, 'ca.crt'), readFileSync(caPath));
  writeFileSync(path.join(folder, 'namespace'), names.namespace);
  return folder;
}

function writeKubeconfig({ dir, server, caPath, token }: OperatorPlace): string {
  const file = path.join(dir, 'operator.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': caPath } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function httpGet(port: number, url: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve) => {
    const no = (): void => resolve({ status: 0, body: '' });
    const asked = ask({ host: '127.0.0.1', port, path: url, timeout: 5_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', no);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', no);
    asked.end();
  });
}

function metricOf(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
