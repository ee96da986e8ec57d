/** Who bears the verified label, and who might: a workload, its running pods, and pods that only the label itself still tells of. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { labels } from '../api/names.ts';
import type { Kind, KubeObject, Reader, Watch } from '../engine/types.ts';
import { controllerUid } from '../workload/owner.ts';
import { podOwnersOf, podsOf } from '../workload/pods.ts';
import { selectorOf, selects } from '../workload/selector.ts';
import type { Workload } from '../workload/workload.ts';
import { keepSetters } from './label-setter.ts';
import type { Marked } from './observed.ts';

/**
 * Every pod with the label, whatever else it is labelled: one that ends, or that somebody took out of the enrolled ones, is still found when
 * its workload's label goes.
 * Index `owner`: the controller's uid.
 */
export const verifiedPods: Watch = Object.freeze({
  id: 'verified-pods',
  kind: kinds.pod as Kind,
  labels: labels.signatureVerified,
  metadataOnly: true,
  keep: keepSetters,
  indexes: { owner: controllerUid },
});

export interface Bearers {
  readonly marked: readonly Marked[];
  /** Beside those: pods that may lose the label and never get it. */
  readonly strays: readonly Marked[];
}

export function bearersOf(reader: Reader, workload: Workload): Bearers {
  const pods = ownPodsOf(reader, workload);
  const running = new Set(pods.map(({ metadata }) => metadata.uid));
  const labelled = labelledPods(reader, workload).filter(({ metadata }) => !running.has(metadata.uid));
  const kind = kinds.pod as Kind;
  return {
    marked: [markedOf(workload.object, workload.row.watch.kind), ...pods.map((pod) => markedOf(pod, kind))],
    strays: labelled.map((pod) => markedOf(pod, kind)),
  };
}

/**
 * The running pods that speak for the workload, sorted by name. Whoever may create a pod can name any owner in it: what that owner's controller
 * would let go of is neither asked for the card nor gets the label.
 */
export function ownPodsOf(reader: Reader, workload: Workload): readonly Pod[] {
  return podsOf(reader, workload).filter((pod) => isOwn(pod, workload));
}

function isOwn({ metadata }: Pod, workload: Workload): boolean {
  return workload.row.kind === 'CronJob' || selects(selectorOf(workload), metadata.labels ?? {});
}

function labelledPods(reader: Reader, workload: Workload): readonly KubeObject[] {
  const { namespace } = workload;
  return podOwnersOf(reader, workload).flatMap((value) =>
    reader.list(verifiedPods, { namespace, index: { name: 'owner', value } }),
  );
}

function markedOf({ metadata }: KubeObject, kind: Kind): Marked {
  const { namespace, name = '', uid } = metadata;
  return { ref: { kind, namespace, name, uid }, value: metadata.labels?.[labels.signatureVerified] };
}
