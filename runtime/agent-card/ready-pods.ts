/** The pods of a workload that are ready to be asked, in the order in which they are. */

import type { Pod } from '../api/kubernetes.ts';

export interface ReadyPod {
  readonly name: string;
  /** At least one; the first is of the pod's own family. */
  readonly addresses: readonly string[];
  /** As its controller labels it; empty for a kind that has none. */
  readonly revision: string;
  readonly pod: Pod;
}

/** Kubernetes' labels of a pod's revision: of a Deployment, of a StatefulSet or a DaemonSet. */
const revisionLabels = ['pod-template-hash', 'controller-revision-hash'] as const;

/**
 * Those of the newest revision first: the one whose first pod was made last. In a revision the oldest first, so that one more replica does not
 * change who comes first.
 */
export function readyPods(pods: readonly Pod[]): readonly ReadyPod[] {
  const ready = pods.flatMap(readyPod);
  const begun = new Map<string, string>();
  for (const { revision, pod } of ready) {
    const known = begun.get(revision);
    if (known === undefined || madeAt(pod) < known) begun.set(revision, madeAt(pod));
  }
  const begunAt = ({ revision }: ReadyPod): string => begun.get(revision) ?? '';
  return ready.toSorted(
    (a, b) =>
      inOrder(begunAt(b), begunAt(a)) ||
      inOrder(a.revision, b.revision) ||
      inOrder(madeAt(a.pod), madeAt(b.pod)) ||
      inOrder(a.name, b.name),
  );
}

function readyPod(pod: Pod): readonly ReadyPod[] {
  const { metadata, status } = pod;
  const isReady = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  const addresses = [status?.podIP ?? '', ...(status?.podIPs ?? []).map(({ ip }) => ip)].filter((ip) => ip !== '');
  if (isReady !== true || addresses.length === 0) return [];
  const revision = revisionLabels.map((label) => metadata.labels?.[label]).find((value) => value !== undefined) ?? '';
  return [{ name: metadata.name ?? '', addresses, revision, pod }];
}

/** RFC 3339 in UTC, as the API server writes it: text that sorts as the times do. */
function madeAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? '';
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a !== b);
}
