/** `rossoctl inject`: shows offline what the controller and the webhook would make of manifests. */

import type { Pod } from '../api/kubernetes.ts';
import { judge } from '../authbridge/judge.ts';
import { createMemory, type Memory } from '../authbridge/memory.ts';
import { malformation } from '../authbridge/shape.ts';
import { type Arguments, valueOf } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { type ClusterState, clusterState } from './cluster-state.ts';
import type { Command, Terminal } from './command.ts';
import { enrolledAndInjected } from './enrol.ts';
import { inputDocuments, inputFlags, namespaceOf } from './input.ts';
import { type OfflineCluster, offlineCluster } from './offline-snapshot.ts';
import { type Outcome, outcomeOf, podAfter, subjectName } from './outcome.ts';
import { type Format, printed } from './output.ts';
import type { Placed } from './placed.ts';
import { reviewed } from './review.ts';
import { settingOf } from './setting.ts';

export const injectCommand: Command = {
  name: 'inject',
  summary: 'print Pods, workloads or AdmissionReviews as they are after injection; offline',
  usage: 'rossoctl inject -f FILE…|- [flags]',
  help: `Reads YAML (several documents) or JSON (several, with or without --- between them) and prints what the operator makes of it.
Pods and AdmissionReviews are injected; when there are none, workloads are, after the labels their AgentRuntime gives them.
AgentRuntimes, ReplicaSets, Deployments, ConfigMaps and Namespaces among the documents stand for the cluster's state. Each object is there once.
Of the objects only the fields that injection reads are checked; the API server checks the rest when they are applied.
JSON is read strictly: a member twice or a number beyond a double is refused. A file named .json holds nothing else.
Nothing is read from a network and nothing is written but the output. It is a preview: applying it is refused, because only the operator may
set the type label. What is denied is left out of the output.

Standard output: the result and nothing else; several as a v1 List; of an AdmissionReview the response.
Standard error: one line an object with the reason.
Exit code: 0 allowed, 1 at least one is denied, 2 wrong usage or unreadable input.`,
  flags: [
    ...inputFlags,
    { name: 'format', value: 'yaml|json', help: 'output; default json when all input is JSON, else yaml' },
    { name: 'explain', help: 'print each step of the decision and each value with the layer it came from' },
    { name: 'no-csi-driver', help: 'the cluster has no SPIFFE CSI driver' },
    { name: 'server-version', value: 'VERSION', help: 'Kubernetes version; before 1.29 there are no native sidecars' },
  ],
  run,
};

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const format = formatOf(given);
  const namespace = namespaceOf(given);
  const setting = await settingOf(given, terminal);
  const documents = await inputDocuments(given, terminal);
  const state = clusterState(documents, namespace);
  for (const line of state.ignored) terminal.err(line);
  const outcomes = await outcomesOf(offlineCluster(state, setting), namespace);
  for (const outcome of outcomes) report(outcome, given.switches.has('explain'), terminal);
  const objects = outcomes.map(({ object }) => object).filter((object) => object !== undefined);
  const allJson = documents.every(({ isJson }) => isJson);
  terminal.out(printed(objects, { format: format ?? (allJson ? 'json' : 'yaml'), asList: outcomes.length > 1 }));
  return outcomes.some(({ denied }) => denied) ? exitCodes.denied : exitCodes.ok;
}

function report({ line, warnings, explanation }: Outcome, explain: boolean, terminal: Terminal): void {
  terminal.err(line);
  for (const warning of warnings) terminal.err(`  warning: ${warning}`);
  if (explain) for (const each of explanation()) terminal.err(`  ${each}`);
}

/** In the order of the input within each group. */
async function outcomesOf(cluster: OfflineCluster, defaultNamespace: string): Promise<readonly Outcome[]> {
  const { state } = cluster;
  const memory = createMemory();
  const reviews: Outcome[] = [];
  for (const review of state.reviews) reviews.push(await reviewed(review, cluster, memory, defaultNamespace));
  const pods = state.pods.map((pod) => injectedPod(pod, cluster, memory));
  if (reviews.length + pods.length > 0) return [...reviews, ...pods];
  const workloads = topmost(state).map((workload) => enrolledAndInjected(workload, cluster, memory));
  if (workloads.length > 0) return workloads;
  throw new CliError('nothing to inject: the input holds no Pod, no AdmissionReview and no workload');
}

function injectedPod({ document, object, namespace }: Placed, cluster: OfflineCluster, memory: Memory): Outcome {
  const subject = subjectName('Pod', namespace, object.metadata);
  const problem = malformation(object);
  if (problem !== undefined) throw new CliError(`${document.origin}: ${subject}: ${problem}`);
  const pod = object as Pod;
  const judgement = judge(cluster.snapshot({ operation: 'CREATE', namespace, object: pod }), memory);
  return outcomeOf(subject, judgement, cluster.layers(namespace), podAfter(pod, judgement));
}

/** Workloads that no other of them controls: a Deployment's ReplicaSet is state. */
function topmost({ workloads }: ClusterState): readonly Placed[] {
  const key = (namespace: string, kind: string, name: string | undefined) => `${namespace}/${kind}/${name}`;
  const present = new Set(workloads.map(({ object, namespace }) => key(namespace, object.kind, object.metadata.name)));
  return workloads.filter(({ object, namespace }) => {
    const controller = object.metadata.ownerReferences?.find((owner) => owner.controller === true);
    return controller === undefined || !present.has(key(namespace, controller.kind, controller.name));
  });
}

function formatOf(given: Arguments): Format | undefined {
  const format = valueOf(given, 'format');
  if (format === undefined || format === 'yaml' || format === 'json') return format;
  throw new CliError(`--format must be yaml or json, not ${JSON.stringify(format)}`);
}
