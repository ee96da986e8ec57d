/** Who put our containers into a pod: its template, or the injection itself earlier in the same request. */

import { kinds } from '../api/kinds.ts';
import { ourNamesIn } from '../config/marker.ts';
import { declaredController } from '../workload/owner.ts';
import type { Pod, PodTemplate } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import type { Kind, KubeObject } from '../engine/types.ts';

interface Maker {
  readonly kind: Kind;
  /** The account of the controller that makes the pods. */
  readonly account: string;
}

/** What makes pods from a template. */
const makers: readonly Maker[] = Object.freeze([
  { kind: kinds.replicaSet as Kind, account: 'replicaset-controller' },
  { kind: kinds.statefulSet as Kind, account: 'statefulset-controller' },
  { kind: kinds.daemonSet as Kind, account: 'daemon-set-controller' },
  { kind: kinds.job as Kind, account: 'job-controller' },
]);

/** The object that holds the template of a pod. */
export interface TemplateRef {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Where the template stands of a pod that `user` creates; undefined unless its own controller does. A StatefulSet may still make pods from an
 * earlier template, so its revision is asked, which its controller names on the pod.
 */
export function templateOf(pod: Pod, user: string): TemplateRef | undefined {
  const owner = declaredController(pod);
  const maker = makers.find(
    ({ kind }) => owner?.kind === kind.kind && groupOf(owner.apiVersion) === groupOf(kind.apiVersion),
  );
  const account = `system:serviceaccount:kube-system:${maker?.account}`;
  if (owner === undefined || maker === undefined) return undefined;
  if (user !== account && user !== 'system:kube-controller-manager') return undefined;
  if (maker.kind !== kinds.statefulSet) return { kind: maker.kind, name: owner.name };
  const revision = pod.metadata.labels?.['controller-revision-hash'];
  return revision === undefined ? undefined : { kind: kinds.controllerRevision, name: revision };
}

/** An object with a template; a revision has that of its owner. */
type Holder = KubeObject & {
  readonly spec?: { readonly template?: PodTemplate };
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } };
};

/**
 * The template has neither our marker nor a container of our names: what the pod has of them was added at admission, so it is ours, whatever
 * other webhooks have changed on it since (report PM-03).
 */
export function isAddedSince(pod: Pod, holder: KubeObject): boolean {
  const { uid, template } = held(holder as Holder);
  if (!Array.isArray(template?.spec?.containers) || uid === undefined || uid !== declaredController(pod)?.uid)
    return false;
  return template.metadata?.annotations?.[annotations.injected] === undefined && ourNamesIn(template).length === 0;
}

/** The template, and the uid of whose it is. */
function held(holder: Holder): { readonly uid: string | undefined; readonly template: PodTemplate | undefined } {
  return holder.kind === kinds.controllerRevision.kind
    ? { uid: declaredController(holder)?.uid, template: holder.data?.spec?.template }
    : { uid: holder.metadata.uid, template: holder.spec?.template };
}
