/** A workload as a target: any construct, L1 or plain reference that says its apiVersion, kind and name. */

import { ApiObject } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { kinds } from '../runtime/api/kinds.ts';
import { annotations, labels, managedBy } from '../runtime/api/names.ts';
import { groupOf } from '../runtime/api/target-ref.ts';

/**
 * What can be a target. Recognised by its shape, not its class: a workload of any version of cdk8s-plus, an `ApiObject`,
 * or a plain `{ apiVersion, kind, name }` for a workload that is made elsewhere.
 */
export interface WorkloadTarget {
  /** For example `apps/v1`. */
  readonly apiVersion: string;
  /** For example `Deployment`. */
  readonly kind: string;
  /** Name of the workload. */
  readonly name: string;
}

const { deployment, statefulSet, daemonSet, cronJob, job } = kinds;
/** The kinds of workload that can be enrolled. */
export const targetKinds = [deployment, statefulSet, daemonSet, cronJob, job];

/** The kinds that can be a target, for people: `apps Deployment, …`. */
const supported = targetKinds.map(({ apiVersion, kind }) => `${kind} (${apiVersion})`).join(', ');

/** Why a workload cannot be a target, or nothing. The group counts, not the kind's name alone. */
export function kindProblem({ apiVersion, kind }: WorkloadTarget): readonly string[] {
  const isSupported = targetKinds.some((row) => row.kind === kind && groupOf(row.apiVersion) === groupOf(apiVersion));
  return isSupported ? [] : [`target kind ${kind} (${apiVersion}) is not supported: use one of ${supported}`];
}

/** The object behind a target, when it is part of the app. */
export function objectOf(target: WorkloadTarget): ApiObject | undefined {
  if (!Construct.isConstruct(target)) return undefined;
  const construct: IConstruct = target;
  return ApiObject.isApiObject(construct) ? construct : ApiObject.of(construct);
}

/** Why a resource cannot be where it is, or nothing: a target is always in the resource's own namespace. */
export function namespaceProblem(
  resource: string,
  target: WorkloadTarget,
  namespace: string | undefined,
): readonly string[] {
  const theirs = objectOf(target)?.metadata.namespace;
  if (theirs === undefined || theirs === namespace) return [];
  return [
    `the target is in namespace ${theirs}, the ${resource} in ${namespace}: leave namespace out, it follows the target`,
  ];
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Templates {
  readonly template?: { readonly metadata?: Metadata };
  readonly jobTemplate?: {
    readonly metadata?: Metadata;
    readonly spec?: { readonly template?: { readonly metadata?: Metadata } };
  };
}

/**
 * Keys that only the operator may set, or the one value that only it may; the API server's policies would refuse the first two, and the
 * operator owns all.
 */
const reserved: readonly (readonly [key: string, value?: string])[] = [
  [labels.type],
  [labels.signatureVerified],
  [annotations.configHash],
  [annotations.injected],
  [annotations.defaultsHash],
  [annotations.credentialsSecret],
  [labels.managedBy, managedBy],
];

/** Why a workload is never asked for a card, or nothing: it has to say on itself which protocol it speaks. */
export function protocolProblem(workload: ApiObject): readonly string[] {
  const { metadata } = workload.toJson() as { readonly metadata?: Metadata };
  if (Object.keys(metadata?.labels ?? {}).some((key) => key.startsWith(labels.protocolPrefix))) return [];
  const example = `${labels.protocolPrefix}a2a: ""`;
  return [
    `${workload.kind} ${workload.name} does not say which protocol it speaks, so its card would never be fetched: set a label such as ${example} on its metadata`,
  ];
}

/** Operator-owned labels and annotations written on a workload or its templates, each with what to do. */
export function reservedKeyProblems(workload: ApiObject): readonly string[] {
  const json = workload.toJson() as { readonly metadata?: Metadata; readonly spec?: Templates };
  const { template, jobTemplate } = json.spec ?? {};
  const places: readonly (readonly [string, Metadata | undefined])[] = [
    ['metadata', json.metadata],
    ['pod template', template?.metadata],
    ['job template', jobTemplate?.metadata],
    ["job template's pod template", jobTemplate?.spec?.template?.metadata],
  ];
  return places.flatMap(([where, metadata]) =>
    reserved
      .filter(([key, value]) =>
        [metadata?.labels?.[key], metadata?.annotations?.[key]].some(
          (found) => found !== undefined && (value === undefined || found === value),
        ),
      )
      .map(([key]) => `${workload.kind} ${workload.name} sets ${key} on its ${where}: remove it, the operator sets it`),
  );
}
