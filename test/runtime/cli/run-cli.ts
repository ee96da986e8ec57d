/** Runs the command line: within this process on given text, or as the program a user starts. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { main } from '../../../runtime/cli/main.ts';

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const root = path.resolve(import.meta.dirname, '../../..');

/** One invocation with `input` on standard input. */
export async function cli(argv: readonly string[], input = ''): Promise<CliResult> {
  let out = '';
  let err = '';
  const stdin = (async function* () {
    yield Buffer.from(input);
  })();
  const code = await main(argv, {
    stdin,
    out: (text) => {
      out += text;
    },
    err: (line) => {
      err += `${line}\n`;
    },
  });
  return { code, out, err };
}

/** `inject -f -` on a text, with more flags. */
export function inject(input: string, ...flags: readonly string[]): Promise<CliResult> {
  return cli(['inject', '-f', '-', ...flags], input);
}

/** The program itself, by the machine's own `node`. */
export async function program(argv: readonly string[], input = '', cwd = root): Promise<CliResult> {
  const child = spawn(path.join(root, 'bin/rossoctl.js'), argv, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const texts: Record<'out' | 'err', string> = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  child.stdin.on('error', () => undefined).end(input);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => resolve(exit ?? -1));
  });
  return { code, ...texts };
}

export const r0Yaml = `apiVersion: agent.rossoctl.dev/v1alpha1
kind: AgentRuntime
metadata: {name: weather, namespace: team1}
spec:
  type: agent
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: weather-agent}
`;

export const podYaml = `apiVersion: v1
kind: Pod
metadata:
  namespace: team1
  generateName: weather-agent-7d9f8c6b5-
  labels: {app: weather-agent, pod-template-hash: 7d9f8c6b5, rossoctl.io/type: agent}
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: weather-agent-7d9f8c6b5, uid: u1, controller: true}
spec:
  containers:
  - {name: agent, image: "example.test/weather:1", ports: [{containerPort: 8080}]}
`;

export const deploymentYaml = `apiVersion: apps/v1
kind: Deployment
metadata: {name: weather-agent, namespace: team1}
spec:
  replicas: 2
  selector: {matchLabels: {app: weather-agent}}
  template:
    metadata: {labels: {app: weather-agent}}
    spec:
      containers:
      - {name: agent, image: "example.test/weather:1", ports: [{containerPort: 8080}]}
`;

/** Documents as one YAML stream. */
export function stream(...documents: readonly string[]): string {
  return documents.join('---\n');
}

export function configMap(
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
  labels = '{}',
): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, labels: ${labels}}\ndata: ${JSON.stringify(data)}\n`;
}

export const gates = (text: string): string =>
  configMap('rossoctl-system', 'rossoctl-feature-gates', { 'feature-gates.yaml': text });
export const platform = (text: string): string =>
  configMap('rossoctl-system', 'rossoctl-platform-config', { 'config.yaml': text });
export const defaults = (text: string): string =>
  configMap('team1', 'defaults', { 'config.yaml': text }, '{rossoctl.io/defaults: "true"}');

export const version: string = (
  JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly version: string }
).version;
