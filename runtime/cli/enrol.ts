/** A workload of the input as the controller would leave it, and its pod template injected as its pods would be. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod, PodTemplate } from '../api/kubernetes.ts';
import { annotations, labels, managedBy } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import { podOwner } from '../authbridge/gather.ts';
import { judge } from '../authbridge/judge.ts';
import type { Memory } from '../authbridge/memory.ts';
import { isRecord } from '../authbridge/record.ts';
import { templateMalformation } from '../authbridge/shape.ts';
import type { Judgement, Snapshot } from '../authbridge/snapshot.ts';
import type { KubeObject } from '../engine/types.ts';
import { takesManagedBy } from '../workload/fragment.ts';
import { rowOf, type WorkloadRow } from '../workload/kinds.ts';
import { type Owner, ownerOf } from '../workload/owner.ts';
import { workloadOf } from '../workload/workload.ts';
import { CliError } from './cli-error.ts';
import type { Placed } from './placed.ts';
import type { OfflineCluster } from './offline-snapshot.ts';
import { type Outcome, outcomeOf, subjectName } from './outcome.ts';

/** Enrols (when an AgentRuntime targets it) and injects a workload. Throws `CliError` for a template that no API server would take. */
export function enrolledAndInjected(placed: Placed, cluster: OfflineCluster, memory: Memory): Outcome {
  const { object, namespace, document } = placed;
  const subject = subjectName(object.kind, namespace, object.metadata);
  const row = rowOf(object);
  const path = row?.templatePath ?? ['spec', 'template'];
  const template = templateAt(object, path);
  const problem = templateMalformation(template, path.join('.'));
  if (problem !== undefined) throw new CliError(`${document.origin}: ${subject}: ${problem}`);
  const owner = ownerOfPods(object, namespace);
  const runtime = cluster.runtimeFor(owner, namespace);
  const layers = cluster.layers(namespace);
  const reason = runtime === undefined ? 'NoAgentRuntime' : hindrance(object, row);
  if (runtime === undefined || reason !== undefined) {
    return outcomeOf(subject, untouched(reason ?? '', subject), layers, object);
  }
  const enrolled =
    row === undefined ? object : enrol(object, row, { runtime, hash: memory.hash(layers, runtime.spec.type) });
  const enrolledTemplate = templateAt(enrolled, path);
  const pod = podOf(enrolledTemplate, object, namespace);
  const snapshot: Snapshot = {
    ...cluster.snapshot({ operation: 'CREATE', namespace, object: pod }),
    owner: podOwner(owner),
    runtime,
  };
  const judgement = judge(snapshot, memory);
  const printed =
    judgement.verdict.kind === 'mutate'
      ? replaced(enrolled, path, injected(enrolledTemplate, judgement.verdict.object))
      : enrolled;
  return outcomeOf(subject, judgement, layers, printed);
}

/** What the pods of this workload will find as their owner. */
function ownerOfPods(object: KubeObject, namespace: string): Owner {
  const { kind, apiVersion, metadata } = object;
  if (kind !== 'ReplicaSet' && kind !== 'Job')
    return { kind, group: groupOf(apiVersion), name: metadata.name ?? '', via: 'itself' };
  const reference = { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, ownerReferences: [reference] } };
  return ownerOf(pod, (_, name) => (name === metadata.name ? object : undefined));
}

/** Why the controller could not label the template. */
function hindrance(object: KubeObject, row: WorkloadRow | undefined): string | undefined {
  if (row === undefined || row.canLabelTemplate(object)) return undefined;
  return row.template(object)?.metadata?.labels?.[labels.type] === undefined ? 'TargetImmutable' : undefined;
}

const notes: Readonly<Record<string, (subject: string) => string>> = {
  NoAgentRuntime: (subject) => `no AgentRuntime among the documents targets ${subject}; it is printed unchanged`,
  TargetImmutable: (subject) =>
    `the pod template of ${subject} cannot be labelled once it may run; create it with suspend: true, and resume it when it is enrolled`,
};

function untouched(reason: string, subject: string): Judgement {
  const note = notes[reason]?.(subject) ?? reason;
  return { verdict: { kind: 'allow', reason, note }, steps: [{ step: 'AgentRuntime', passed: false, reason: note }] };
}

/** Our labels and hash, as the controller applies them; everything else stays. */
function enrol(
  object: KubeObject,
  row: WorkloadRow,
  { runtime, hash }: { runtime: AgentRuntime; hash: string },
): KubeObject {
  const type = { [labels.type]: runtime.spec.type };
  const ours = takesManagedBy(workloadOf(row, object)) ? { ...type, [labels.managedBy]: managedBy } : type;
  const template = templateAt(object, row.templatePath);
  const metadata = {
    ...template.metadata,
    labels: { ...template.metadata?.labels, ...type },
    annotations: { ...template.metadata?.annotations, [annotations.configHash]: hash },
  };
  const labelled = { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...ours } } };
  return replaced(labelled, row.templatePath, { ...template, metadata });
}

function podOf(template: PodTemplate, { metadata: { name } }: KubeObject, namespace: string): Pod {
  const metadata = { ...template.metadata, generateName: `${name ?? ''}-`, namespace };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec };
}

/** What the pod got, without the name it borrowed. */
function injected(template: PodTemplate, pod: Pod): PodTemplate {
  const { annotations: all } = pod.metadata;
  return {
    ...template,
    metadata: { ...template.metadata, ...(all === undefined ? {} : { annotations: all }) },
    spec: pod.spec,
  };
}

/** The cast is sound where `templateMalformation` has passed. */
function templateAt(object: KubeObject, path: readonly string[]): PodTemplate {
  const found = path.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), object);
  return found as PodTemplate;
}

/** The object with another value at a path; whatever is beside it is shared. */
function replaced<T extends object>(object: T, [step, ...rest]: readonly string[], value: unknown): T {
  if (step === undefined) return value as T;
  const below = (object as Readonly<Record<string, unknown>>)[step];
  return { ...object, [step]: rest.length === 0 ? value : replaced(isRecord(below) ? below : {}, rest, value) };
}
