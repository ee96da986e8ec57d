/** The documents of the input as the state of a cluster: what the webhook would find in the API server. */

import { type AgentRuntime, AgentRuntimeSpec } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import { isRecord } from '../authbridge/record.ts';
import { missingFields } from './missing-fields.ts';
import { violationsOf } from '../config/check.ts';
import type { Kind, KubeObject, ObjectMeta } from '../engine/types.ts';
import { workloadRows } from '../workload/kinds.ts';
import { CliError } from './cli-error.ts';
import type { Document } from './documents.ts';
import { shownValue, withoutBigints } from './shown.ts';
import { refuseTwice } from './twice.ts';

/** An object of the input with the namespace it is in. */
export interface Placed {
  readonly document: Document;
  readonly object: KubeObject;
  readonly namespace: string;
}

export interface ClusterState {
  readonly agentRuntimes: readonly AgentRuntime[];
  readonly configMaps: readonly ConfigMap[];
  readonly namespaceLabels: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly pods: readonly Placed[];
  /** Deployments and what else can be a target, and ReplicaSets. */
  readonly workloads: readonly Placed[];
  readonly reviews: readonly Document[];
  /** ReplicaSets and Jobs, by `kind/namespace/name`. */
  readonly between: ReadonlyMap<string, KubeObject>;
  /** One sentence for each document that is none of these. */
  readonly ignored: readonly string[];
}

type Role = 'agentRuntime' | 'configMap' | 'namespace' | 'pod' | 'workload' | 'review';

const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['admission.k8s.io/v1 AdmissionReview', 'review'],
  [roleKey(kinds.agentRuntime), 'agentRuntime'],
  [roleKey(kinds.configMap), 'configMap'],
  [roleKey(kinds.namespace), 'namespace'],
  [roleKey(kinds.pod), 'pod'],
  [roleKey(kinds.replicaSet), 'workload'],
  ...workloadRows.map(({ watch }): [string, Role] => [roleKey(watch.kind), 'workload']),
]);

function roleKey({ apiVersion, kind }: Pick<Kind, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}

/** Sorts the documents. Throws `CliError` for one an API server would refuse, and for an object that is there twice. */
export function clusterState(documents: readonly Document[], defaultNamespace: string): ClusterState {
  refuseTwice(documents, defaultNamespace);
  const of = (role: Role) => documents.filter((document) => roles.get(roleKey(document)) === role);
  const placed = (role: Role) => of(role).map((document) => place(document, defaultNamespace));
  const workloads = placed('workload');
  const between = workloads.filter(({ object }) => object.kind === 'ReplicaSet' || object.kind === 'Job');
  return {
    agentRuntimes: placed('agentRuntime').map(agentRuntimeOf),
    configMaps: placed('configMap').map(configMapOf),
    namespaceLabels: new Map(
      placed('namespace').map(({ object }) => [object.metadata.name ?? '', object.metadata.labels ?? {}]),
    ),
    pods: placed('pod'),
    workloads,
    reviews: of('review'),
    between: new Map(
      between.map(({ object, namespace }) => [`${object.kind}/${namespace}/${object.metadata.name}`, object]),
    ),
    ignored: documents
      .filter((document) => !roles.has(roleKey(document)))
      .map(
        ({ origin, apiVersion, kind }) =>
          `${origin}: ${apiVersion} ${kind} has no part in injection and is passed over`,
      ),
  };
}

function place(document: Document, defaultNamespace: string): Placed {
  const { origin, object, kind } = document;
  const { metadata } = object;
  if (!isRecord(metadata)) {
    throw new CliError(`${origin}: ${kind}: metadata ${metadata === undefined ? 'is missing' : 'must be a map'}`);
  }
  for (const field of ['name', 'namespace', 'generateName'])
    checkText(metadata[field], `${origin}: ${kind}: metadata.${field}`);
  for (const field of ['labels', 'annotations']) checkTexts(metadata[field], `${origin}: ${kind}: metadata.${field}`);
  const typed = object as unknown as KubeObject;
  return { document, object: typed, namespace: typed.metadata.namespace || defaultNamespace };
}

function checkText(value: unknown, where: string): void {
  if (value === undefined || value === null || typeof value === 'string') return;
  throw new CliError(`${where} must be a string; put ${shownValue(value)} in quotes`);
}

function checkTexts(value: unknown, where: string): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) throw new CliError(`${where} must be a map of strings`);
  for (const [key, each] of Object.entries(value)) checkText(each ?? '', `${where}[${JSON.stringify(key)}]`);
}

/** With its namespace stated, which messages name. */
function agentRuntimeOf({ document, object, namespace }: Placed): AgentRuntime {
  const spec = withoutBigints(document.object['spec']);
  const where = `${document.origin}: AgentRuntime ${namespace}/${object.metadata.name ?? ''}`;
  const violations = [...missingFields(AgentRuntimeSpec, spec, 'spec'), ...specViolations(spec)];
  if (violations.length > 0) throw new CliError(`${where}: ${violations.join('; ')}`);
  return { ...(object as AgentRuntime), metadata: inNamespace(object.metadata, namespace) };
}

function specViolations(spec: unknown): readonly string[] {
  if (!isRecord(spec)) return [];
  return violationsOf(AgentRuntimeSpec, spec).map(({ path, message }) => `spec.${path}: ${message}`);
}

function configMapOf({ document, object, namespace }: Placed): ConfigMap {
  checkTexts(document.object['data'], `${document.origin}: ConfigMap ${namespace}/${object.metadata.name ?? ''}: data`);
  const { data } = object as ConfigMap;
  // As Kubernetes reads it: a key without a value is empty text.
  const texts = Object.entries(data ?? {}).map(([key, text]: [string, string | null]) => [key, text ?? '']);
  return { ...object, data: Object.fromEntries(texts), metadata: inNamespace(object.metadata, namespace) };
}

function inNamespace(metadata: ObjectMeta, namespace: string): ObjectMeta {
  return { ...metadata, namespace };
}
