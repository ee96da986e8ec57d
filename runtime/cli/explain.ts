/** `rossoctl explain`: the effective configuration of AgentRuntimes or of a namespace, each value with the layer it comes from. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { configHash } from '../config/config-hash.ts';
import { explainConfig } from '../config/explain.ts';
import type { Layers } from '../config/layers.ts';
import { mergeLayers } from '../config/merge.ts';
import { agentRuntimeOver, isProblem } from '../config/sources.ts';
import type { Arguments } from './arguments.ts';
import { exitCodes } from './cli-error.ts';
import { clusterState } from './cluster-state.ts';
import type { Command, Terminal } from './command.ts';
import { inputDocuments, inputFlags, namespaceOf } from './input.ts';
import { offlineCluster } from './offline-snapshot.ts';
import { settingOf } from './setting.ts';

export const explainCommand: Command = {
  name: 'explain',
  summary: 'print the effective configuration and where each value comes from; offline',
  usage: 'rossoctl explain -f FILE…|- [flags]',
  help: `Reads the documents of a cluster (ConfigMaps of the platform, of the feature gates and of namespaces, AgentRuntimes) and prints,
for each AgentRuntime, every value with the layer that set it last; without an AgentRuntime, those of the namespace.
The hash is what the operator writes on the pod template: it changes exactly when pods must be replaced.

Exit code: 0 explained, 1 a layer cannot be used (standard error says which and why), 2 wrong usage or unreadable input.`,
  flags: inputFlags,
  run,
};

/** One explanation: for an AgentRuntime, or for a namespace when there is none. */
interface Subject {
  readonly title: string;
  readonly namespace: string;
  readonly runtime?: AgentRuntime;
}

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const namespace = namespaceOf(given);
  const setting = await settingOf(given, terminal);
  const cluster = offlineCluster(clusterState(await inputDocuments(given, terminal), namespace), setting);
  const runtimes = cluster.state.agentRuntimes.map((runtime): Subject => {
    const { metadata } = runtime;
    const at = metadata.namespace ?? namespace;
    return { title: `AgentRuntime ${at}/${metadata.name ?? ''}`, namespace: at, runtime };
  });
  const subjects = runtimes.length > 0 ? runtimes : [{ title: `Namespace ${namespace}`, namespace }];
  const explained = subjects.map((subject) => explain(subject, cluster.layers(subject.namespace), terminal));
  return explained.every(Boolean) ? exitCodes.ok : exitCodes.denied;
}

/** False when a layer cannot be used. */
function explain({ title, runtime }: Subject, layers: Layers, terminal: Terminal): boolean {
  const own = runtime === undefined ? undefined : agentRuntimeOver(layers, runtime);
  const problems = [...layers.problems, ...(own !== undefined && isProblem(own) ? [own] : [])];
  for (const { message } of problems) terminal.err(`${title}: ${message}`);
  for (const warning of layers.warnings) terminal.err(`${title}: warning: ${warning}`);
  if (problems.length > 0) return false;
  const hash = configHash(layers, runtime?.spec.type ?? 'agent');
  const lines = [`${title}  hash ${hash}`, ...explainConfig(mergeLayers(layers, runtime)).map((line) => `  ${line}`)];
  terminal.out(`${lines.join('\n')}\n`);
  return true;
}
