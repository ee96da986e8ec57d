/** The one view of a workload, whatever its kind. */

import type { Container, PodTemplate } from '../api/kubernetes.ts';
import type { TargetRef } from '../api/target-ref.ts';
import type { KubeObject, ObjectKey } from '../engine/types.ts';
import type { WorkloadRow } from './kinds.ts';
import type { Rollout } from './rollout.ts';

type StringMap = Readonly<Record<string, string>>;

export interface Workload {
  readonly row: WorkloadRow;
  /** As cached or read: the source of everything below. */
  readonly object: KubeObject;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** In the version this operator reads, for example `apps/v1`. */
  readonly ref: TargetRef;
  readonly labels: StringMap;
  readonly templateLabels: StringMap;
  readonly templateAnnotations: StringMap;
  /** As the template names it; `undefined` means Kubernetes' own default account. */
  readonly serviceAccount: string | undefined;
  /** Containers and init containers of the template, reduced to names and ports when they come from the cache. */
  readonly containers: readonly Container[];
  readonly rollout: Rollout;
}

/** Never throws, also for an object without a template. */
export function workloadOf(row: WorkloadRow, object: KubeObject): Workload {
  const { namespace = '', name = '', uid = '', labels = {} } = object.metadata;
  return {
    row,
    object,
    key: { namespace, name },
    namespace,
    name,
    uid,
    ref: { apiVersion: row.watch.kind.apiVersion, kind: row.kind, name },
    labels,
    ...templateFacts(row.template(object)),
    rollout: row.rollout(object),
  };
}

function templateFacts(template: PodTemplate | undefined) {
  const { metadata, spec } = template ?? {};
  return {
    templateLabels: metadata?.labels ?? {},
    templateAnnotations: metadata?.annotations ?? {},
    serviceAccount: spec?.serviceAccountName || undefined,
    containers: [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])],
  };
}
