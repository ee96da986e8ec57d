/** The documents of the input as the state of a cluster: what the webhook would find in the API server. */

import { type AgentRuntime, AgentRuntimeSpec } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import { isRecord } from '../authbridge/record.ts';
import { textsMalformation } from '../authbridge/shape.ts';
import { missingFields } from './missing-fields.ts';
import { violationsOf } from '../config/check.ts';
import type { Kind, KubeObject, ObjectMeta } from '../engine/types.ts';
import { workloadRows } from '../workload/kinds.ts';
import { CliError } from './cli-error.ts';
import type { Document } from './documents.ts';
import { withoutNulls } from './nulls.ts';
import { place, type Placed, placeWorkload } from './placed.ts';
import { withoutBigints } from './shown.ts';
import { refuseTwice } from './twice.ts';

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
  const of = (role: Role) =>
    documents
      .filter((document) => roles.get(roleKey(document)) === role)
      .map((document): Document => ({ ...document, object: withoutNulls(document.object) }));
  const placed = (role: Role) => of(role).map((document) => place(document, defaultNamespace));
  const workloads = of('workload').map((document) => placeWorkload(document, defaultNamespace));
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

/** With its namespace stated, which messages name. */
function agentRuntimeOf({ document, object, namespace }: Placed): AgentRuntime {
  const spec = withoutBigints(document.object['spec']);
  const where = `${document.origin}: AgentRuntime ${namespace}/${object.metadata.name ?? ''}`;
  const violations = [...missingFields(AgentRuntimeSpec, spec, 'spec'), ...specViolations(spec)];
  if (violations.length > 0) throw new CliError(`${where}: ${violations.join('; ')}`);
  const name = object.metadata.name || `${object.metadata.generateName}*`;
  return { ...(object as AgentRuntime), metadata: { ...inNamespace(object.metadata, namespace), name } };
}

function specViolations(spec: unknown): readonly string[] {
  if (!isRecord(spec)) return [];
  return violationsOf(AgentRuntimeSpec, spec).map(({ path, message }) => `spec.${path}: ${message}`);
}

function configMapOf({ document, object, namespace }: Placed): ConfigMap {
  const problem = textsMalformation(document.object['data'], 'data');
  if (problem !== undefined)
    throw new CliError(`${document.origin}: ConfigMap ${namespace}/${object.metadata.name ?? ''}: ${problem}`);
  const { data = {} } = object as ConfigMap;
  return { ...object, data, metadata: inNamespace(object.metadata, namespace) };
}

function inNamespace(metadata: ObjectMeta, namespace: string): ObjectMeta {
  return { ...metadata, namespace };
}
